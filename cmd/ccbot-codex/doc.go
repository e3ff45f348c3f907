// Ccbot-codex is the process of a pane in which Codex runs, as package agent/codex describes it:
//
//	ccbot-codex --codex PROGRAM --conversation ID [resume ID | fork ID] -- FLAGS
//
// It promises:
//
//   - It starts one server and one terminal. When one of them ends, or a signal comes, it ends the
//     other, and ends with the exit code of the first.
//   - Its children do not survive it, even if it is killed: the kernel ends them (on Linux).
//   - Before a resume it pauses the conversation's goal, for which Codex would begin a turn by itself.
//   - Only the user who runs it can open the folder of the socket, which is removed at the end.
//
// Its limits: it answers nothing, and keeps no state. If the goal cannot be paused, it is not. The server's output is shown only
// if it ends first. The id after --conversation has no effect: it shows what the pane was opened
// for.
package main
