// Package waiting shows what waits in the queue of a session, in one message with a button for each
// prompt: [Interrupt and send], or [Show the question] where the agent asks, [Send next], [Discard].
//
// It promises that what the message offers is decided by what is so when the button is tapped: a prompt
// that is being sent, or has left the queue, is neither moved nor sent again (P4), and where the agent
// asks something nothing is interrupted (P7). It is a live page (chat.Page): the message is drawn again
// whenever the queue has changed, and of one session the newest message in a conversation has buttons.
//
// It does not type and keeps no order: lifecycle does. What is asked about a prompt that waits is
// package prompt's.
package waiting
