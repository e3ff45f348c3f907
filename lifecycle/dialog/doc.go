// Package dialog presses the keys of dialogs, screens, modes and models in the terminals of
// sessions.
//
// A Session has the dialogs of one session, in one turn of the session's worker: it reads what the
// terminal asks, and presses the keys that people tap. A Switching makes the agent run with the
// mode and the model that a person wants. Both have only their arguments: the record, the terminal
// and, for a Switching, the other functions of a typing.Turn. A State holds what is known of an
// agent's dialogs between turns, and decides which are reported; it presses nothing.
//
// The package promises:
//   - A tapped key reaches only the dialog or the screen that its button was drawn for. It is read
//     again right before the key, and compared with the fingerprint of the button (P7).
//   - No key that may choose is pressed while a permission request waits in the chat, or while a
//     part of the dialog is out of sight (P7).
//   - An option is chosen only once the cursor rests on it, and the question is still the same
//     (P7).
//   - A key of a mode or a model is on disk before it is pressed, so that none is repeated blindly.
//   - An unknown dialog gets no key (P6).
package dialog
