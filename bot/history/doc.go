// Package history shows what was said in a session: the newest first, from a day on, what has a word, one entry as a
// whole, and all of it as a file.
//
// It promises that each page is drawn from a place in the agent's own file, so that it shows the same after a restart and
// while the conversation goes on; that looking takes a moment however long the conversation is; and that a place which is
// not there any more is said to be gone.
//
// It reads no disk: the conversation is the agents' machine's. What a terminal shows is no part of it.
package history
