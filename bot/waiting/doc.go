// Package waiting shows the queue of a session, in one message with a button for each prompt:
// [Interrupt and send], or [Show the question] if the agent asks, [Send next], [Discard].
//
// It guarantees:
//   - The state at the time of the tap decides. A prompt that is being sent, or has left the queue,
//     is neither moved nor sent again (P4), and an agent with an open question is not interrupted
//     (P7).
//   - It is a live page (chat.Page): the message is drawn again whenever the queue has changed, and
//     of one session the newest message in a conversation has buttons.
//
// It does not type and keeps no order: lifecycle does. Questions about a waiting prompt are package
// prompt's.
package waiting
