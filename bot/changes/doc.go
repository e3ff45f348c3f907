// Package changes shows what an agent has changed in git: the files with their lines, and the hunks of each.
//
// It promises that all of it is one message, which is read like a book: from a file's hunks an arrow leads on, to the
// next ones and then to the next file. Each page is asked for when it is turned to, so it is never older than the tap;
// what is not there any more is said in its place. A long patch can be had as a file. What could be missed in a line,
// because it leaves no mark on a screen, is shown as a sign (P7).
//
// It does not know what a diff is, and reads no disk: git is the agent's machine's.
package changes
