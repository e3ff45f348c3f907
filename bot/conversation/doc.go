// Package conversation is what is known of one place in Telegram: a chat, or a topic of a chat.
//
// It promises that what it notes is on disk when the call returns: which session is current, whose
// the last thousand messages are, and how much of what a session said the place has. It finds the
// session that a person means, by name, by id or by the message that the person answers, and says
// who may speak and read in a place. A damaged file is set aside, and its people are to be told:
// that costs a person one tap more, and never a message.
//
// It sends nothing and starts no goroutine. Of a session it changes only where it is shown.
package conversation
