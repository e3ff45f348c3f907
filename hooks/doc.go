// Package hooks is the bot's side of Claude Code's hooks: it writes the settings that make one
// launch of Claude Code report to the bot what happens in it, passes these reports on, keeps
// permission requests waiting for a person, and installs hooks for sessions that are started by
// hand.
//
// It promises:
//
//   - A launch settings file names only hook events that the installed Claude Code knows, because
//     an unknown one opens a dialog that blocks the start. Until `claude --version` has answered
//     once, 2.1.197 counts as installed; no launch waits for that answer.
//   - Every event reaches the sink in order and stays on disk until the sink has taken it. One
//     event that cannot be handled does not delay other sessions for ever.
//   - An event whose conversation is not proven yet is kept for a while and then rejected; of the
//     rejected events the newest stay.
//   - A request is answered once, with a decision that was made; otherwise it is left to the
//     terminal. "For this session" returns only rules that Claude Code proposed.
//   - A person's settings file keeps every byte that is not ccbot's.
//
// The package does not judge whether an event's process is the one bound to a session, and decides
// no permission.
package hooks
