// Package doctor looks for what keeps ccbot from working, or soon will: one check is one function over a World, and
// what it finds has a code.
//
// It promises to change nothing while it looks, and to mend only what is ccbot's own: no process, no window, and
// nothing that a person has written. It takes no update from Telegram, and no secret is in what it says. What cannot
// be seen is said to be unknown, which is no fault.
package doctor
