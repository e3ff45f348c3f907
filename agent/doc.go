// Package agent is the contract between ccbot and the coding agents that it supervises: plain
// types, and a small interface for each thing in which agents differ. The folder agent/claude
// implements it for Claude Code.
//
// It promises:
//
//   - It decides only the flags of a command line (Starter). Which processes may be ended, when a
//     text is typed, and what counts as proof is decided by the callers.
//   - A zero value means that nothing is known, or that there is nothing: no fault, no failure,
//     no trace. Models is the exception.
//   - No interface has more than five methods. There is no registry: cmd makes the map
//     Agents, and a session's record has the name of its agent.
//
// Its limits: an agent runs in a pane of tmux. The package knows neither panes nor records, and
// opens no file.
package agent
