// Package dialog shows in the chat what a session's terminal asks, with buttons that answer it.
//
// It promises that only what was shown can be pressed (P7): if the terminal shows something else,
// nothing is pressed. A message is edited only while its terminal asks the same question; when the
// question changes or is gone, the message loses its buttons, and another dialog has another
// message, which makes a sound. Nothing can be chosen if a part of the dialog may be out of sight,
// or if the session has asked so often that a request was refused.
//
// It does not look for dialogs: lifecycle reports them, and reports them again after a key that
// found another one. Permission requests with a hook are package ask's.
package dialog
