// Package conversation stores the state of one place in Telegram: a chat, or a topic of a chat.
//
// It guarantees:
//   - A change is on disk when its call returns: the current session, the sessions of the last
//     thousand messages, the read marks, and the positions in transcripts of running sessions.
//   - The latest position of a session is never lost, also if its conversation changes.
//   - A damaged file is set aside and reported: it costs a person one more tap, but never a
//     message.
//
// It finds the session that a person means, by name, by id or by the message that the person
// replies to, and decides who may speak and read in a place. It sends no messages and starts no
// goroutine.
package conversation
