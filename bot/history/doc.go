// Package history shows the conversation of a session: the newest entries, the entries since a day
// or with a word, one whole entry, or all as a file.
//
// It guarantees:
//   - Each page starts at a place in the agent's file, so it is the same after a restart and while
//     the conversation continues.
//   - A page takes a moment to draw, even in a long conversation.
//   - If a place no longer exists, the page reports that.
//
// The file is read on the agents' machine. The screen of a terminal is not part of the history.
package history
