// Package dialog shows the dialogs of a session's terminal in the chat, with buttons that answer
// them.
//
// It guarantees:
//   - Only a shown dialog can be answered (P7): if the terminal shows something else, no key is
//     pressed.
//   - A message is edited only while its terminal asks the same question. When the question changes
//     or is gone, the message loses its buttons; another dialog gets another message, which makes a
//     sound.
//   - No option can be chosen if a part of the dialog may be invisible, or if the session has asked
//     so often that a request was refused.
//
// Package lifecycle finds dialogs, and reports a new one after a key. Permission requests with a
// hook belong to package ask.
package dialog
