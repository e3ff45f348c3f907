// Package claudeui reads a captured screen of Claude Code and reports whether its prompt box may
// take text.
//
// It promises to err towards "not ready": a box is reported only if both its rules and its prompt
// sign were seen and nothing below it takes keys; anything that looks like a dialog means that
// there is no box.
//
// It does not capture, type or decide what a dialog means, and it is only one of several proofs:
// the caller checks the process in the pane and its presence file. A frozen picture of a box, left
// by an agent that was killed, can look like a live one.
//
// Screen reader mode has a layout without rules and colours: there the lowest row that names the
// permission mode begins the box, and everything below it belongs to the box or to a dialog.
//
// The layouts were recorded from Claude Code 2.1.197 and 2.1.328; testdata holds the recordings.
package claudeui
