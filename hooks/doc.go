// Package hooks is the bot's side of Claude Code's hooks: it writes the settings that make one launch of Claude Code
// tell the bot what happens in it, hands on what was told, keeps permission requests waiting for a person, and installs
// hooks for sessions that are started by hand.
//
// It promises that a launch settings file names only hook events the installed Claude Code knows (an unknown one opens
// a dialog that blocks the start; until `claude --version` has answered once, 2.1.197 counts as installed), and that no
// launch waits for that answer; that every event reaches the sink in order and stays on disk until the sink took
// it, and that one event that cannot be handled does not hold up other sessions for ever; that a request is answered
// once, with a decision that somebody made, and else is left to the terminal; that "for this session" gives back
// nothing but rules that Claude Code proposed; and that a person's settings file keeps every byte that is not ours.
//
// It does not judge whether an event's process is the one bound to a session, and decides no permission.
package hooks
