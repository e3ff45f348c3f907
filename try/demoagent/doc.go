// Package demoagent is a scripted stand-in for Claude Code: `ccbot try` shows ccbot with it, and
// tests drive it in real tmux windows.
//
// It is meant to be run through a link named claude ([Link]), so that programs that inspect
// processes take it for the real one. It keeps the real one's promises towards a supervisor: flags,
// exit codes, hooks, presence file, transcript, queue, dialogs and the traps (Enter approves an
// open dialog, an Enter that comes too early is lost, C-u clears one line only, C-z stops it).
// Permissions work as with the real one: Esc ends a waiting hook with SIGTERM and a Yes does not, a
// decision is written together with the result, a subagent's hook is waited for before its dialog
// is shown, rules of the session are kept. Its lines are written at once; the real one takes up to
// 150 ms. The words of a prompt decide what it does; [script.Decide] lists them.
//
// This package is the outside of the agent: files, screens and hooks. Package brain plays the turns
// and package script has the words, for this agent and for a stand-in of another one.
//
// Options by environment, in addition to HOME and CLAUDE_CONFIG_DIR:
//
//	DEMOAGENT_LOG=FILE          appends {"text","pasted","at","session","kind"} for each submission, and for
//	                            what a suspended session drops
//	DEMOAGENT_HOOKS=FILE        appends the name of an event once all its hooks have ended
//	DEMOAGENT_IGNORE_SIGNALS=1  survives SIGHUP and SIGTERM
//	DEMOAGENT_OUTLIVES=8        and then its terminal for so many seconds only
//	DEMOAGENT_NO_HISTORY=1      continues a conversation without reading it
//	DEMOAGENT_NO_HOOKS=1        runs no hooks
//	DEMOAGENT_NO_PRESENCE=1     writes no presence file
//	DEMOAGENT_TRUST=1           asks whether the folder is trusted until that was said once
//
// It is not a model, runs no tool (a permitted Bash call returns an invented result; only a
// person's own `!command` is really run) and opens no network connection.
package demoagent
