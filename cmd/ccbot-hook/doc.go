// Command ccbot-hook is what Claude Code's hooks and its status line run.
//
//	ccbot-hook --dir DIR [--installed]
//	ccbot-hook --dir DIR --status [--wrap COMMAND]
//
// It promises never to hurt the session that runs it: exit code 0 whatever happens, nothing on stdout or stderr, no
// network, no lock, no waiting for the bot, and an end within a fixed time even when stdin never ends. It makes no state
// folder where there is none.
//
// A launch of ccbot's own is known by CCBOT_LAUNCH; its events go to DIR/events. Without it (a session started by hand,
// the hook installed for all sessions) only the binding of process and session is kept. --installed marks that general
// entry: it does nothing in a launch of ccbot's own, which has its own entry.
//
// PermissionRequest is the one event that waits, and only in a launch of ccbot's own: the terminal shows the dialog
// meanwhile. It asks the bot and prints one decision or nothing, leaves no file behind, and dies of the signals that the
// others ignore. Without a bot it ends at once.
//
// --status notes the status line's JSON in DIR/status and prints nothing. With --wrap it then becomes the person's own
// status line command (run by /bin/sh) with the same stdin; output, exit code and signals are that command's.
//
// It decides nothing itself.
package main
