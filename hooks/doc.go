// Package hooks is the bot's side of Claude Code's hooks: it writes the settings that make one launch of Claude Code
// tell the bot what happens in it, and hands on what was told.
//
// It promises that a launch settings file names only hook events the installed Claude Code knows (an unknown one opens
// a dialog that blocks the start), that every event reaches the sink in order and stays on disk until the sink took
// it, and that one event that cannot be handled does not hold up other sessions for ever.
//
// It does not judge whether an event's process is the one bound to a session, and does not touch the user's own
// Claude Code settings.
package hooks
