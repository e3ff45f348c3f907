// Package dialog shows in the chat what a session's terminal asks, with buttons that answer it.
//
// It promises that only what was shown can be pressed (P7): a button stands for the terminal's mark
// as it was drawn, and where the terminal shows something else by now, nothing is pressed and the
// message is drawn anew. Nothing can be chosen where a part of the dialog may be out of sight, or
// where the session has asked so often that a request was refused: a person may only look around,
// and leave the dialog. A dialog is one card: it is on disk before it is shown, stays in its
// message over a restart, and loses its buttons when the dialog is gone. Another dialog has a
// message of its own, which makes a sound.
//
// It does not look for dialogs: lifecycle tells them. Permission requests with a hook are package
// ask's.
package dialog
