// Command ccbot-hook is what Claude Code's hooks and its status line run.
//
//	ccbot-hook --dir DIR --launch ID
//	ccbot-hook --dir DIR --launch ID --status [--wrap COMMAND]
//	ccbot-hook --dir DIR --installed
//
// It promises never to hurt the session that runs it: exit code 0 unless a signal ends it, nothing
// on stdout or stderr, no network, no lock, no waiting for the bot, and an end within a fixed time
// even when stdin never ends. It does not make a missing state folder.
//
// --launch names the launch of ccbot's that the hook belongs to; its events go to DIR/events. The
// name is an argument, because a repository can change the environment of hooks. Without it (a
// session started by hand, the hook installed for all sessions) only the binding of process and
// session is kept. --installed marks that general entry: it does nothing if CCBOT_LAUNCH is set,
// because a launch of ccbot's has its own entry.
//
// PermissionRequest is the one event that waits, and only in a launch of ccbot: the terminal shows
// the dialog during the wait. It asks the bot and prints one decision or nothing, leaves no file,
// and dies of the signals that the others ignore. Without a bot it ends at once.
//
// --status notes the status line's JSON in DIR/status and prints nothing. With --wrap it then
// becomes the person's own status line command (run by /bin/sh) with the same stdin; output, exit
// code and signals are that command's. A HUP or INT that was ignored when ccbot-hook started stays
// ignored in it. An ignored TERM does not, because Go's runtime catches it before main. Another
// process, --rows, passes the output on and keeps it in DIR/status, and ends when the output ends.
//
// It decides nothing itself.
package main
