// Package bot dispatches each update and tap to one feature, and news and events to all; the
// feature that tells people of a piece of news gets it last. It guarantees:
//   - Only allowed people get an answer; all others get silence (P9).
//   - A tap is answered at once, by this package only, and acts only on the content of its message
//     (P2, P7); its result is posted in the chat.
//   - A feature that crashes ends nothing else (P8).
//
// [Bot.Features] lists the features; each has its promises in its package comment. They share chat
// and card, conversation, attachment and quotation, inbox and outbox, and render; port is all that
// the chat knows of the agents' machine.
package bot
