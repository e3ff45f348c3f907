// Package loop prompts an agent again and again until a command that ccbot runs succeeds, or a
// bound is reached.
//
// A loop has a task, a check and bounds. Each iteration sends one prompt, waits for the end of its
// turn, and runs the check in the session's folder. Exit code 0 ends the loop as done; otherwise
// the next prompt has the end of the check's output. The agent never decides that the loop is done.
// Phases may have their own prompts: a plan before the first check, a correction after a failed
// check, and a last prompt after a successful one, whose turn is checked as well.
//
// It promises:
//   - Each step is on disk before its effect. The key of a prompt is made of the loop, the
//     iteration, the phase and the attempt, and the engine takes a key once: after kill -9 at any
//     step no prompt is sent twice, and none is left out (P4, P8). A check that was cut off runs
//     again, unless ccbot has ended in it several times.
//   - A loop ends at the first of its bounds. They are compared before each prompt and after each
//     answer of a turn, so that each running agent and subagent gets at most one answer more. A
//     turn that runs over a bound is interrupted, unless a dialog is open: Esc would answer it.
//   - A person comes first: [Keeper.Yield] puts a pause on disk before the person's own act
//     begins. Only a person resumes a paused loop. A loop answers no dialog and no permission.
//   - There is one live loop for a session, and one for a feature of a repository.
//   - The processes of a check are on disk by identity while they live, and each is ended by
//     internal/process (P2). On Linux no process can leave the check: see [Hold]. If an end is
//     not proven, the loop pauses and no second check starts.
//
// [next] decides everything; it is pure. A [Keeper] carries it out. The package does not reach tmux
// or the chat: the [Engine] sends prompts and reports how their turns end.
package loop
