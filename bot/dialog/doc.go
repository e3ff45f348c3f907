// Package dialog shows in the chat what a session's terminal asks, with buttons that answer it.
//
// It promises that only what was shown can be pressed (P7): where the terminal shows something else
// by now, nothing is pressed and the message is drawn anew. Nothing can be chosen where a part of
// the dialog may be out of sight, or where the session has asked so often that a request was
// refused. A dialog is one card, which loses its buttons when the dialog is gone; another dialog
// has a message of its own, which makes a sound.
//
// It does not look for dialogs: lifecycle tells them. Permission requests with a hook are package
// ask's.
package dialog
