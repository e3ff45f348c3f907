// Package changes shows an agent's changes in git: the files with their line counts, and the hunks
// of each.
//
// It guarantees:
//   - All of it is one message with pages: arrows lead from a file's hunks to the next hunks and
//     the next file.
//   - Each page is read at its tap, so it is current; a file that has no changes any longer is
//     named.
//   - A long patch is available as a file.
//   - Characters that are invisible on a screen are shown as signs (P7).
//
// It reads no disk: git runs on the agents' machine.
package changes
