// Command ccbot-hook is what Claude Code's hooks run: it notes the event on stdin in the bot's state folder and is gone.
//
//	ccbot-hook --dir DIR [--installed]
//
// It promises never to hurt the session that runs it: exit code 0 whatever happens, nothing on stdout or stderr, no
// network, no lock, no waiting for the bot, and an end within a fixed time even when stdin never ends. It makes no state
// folder where there is none.
//
// A launch of ccbot's own is known by CCBOT_LAUNCH; its events go to DIR/events. Without it (a session started by hand,
// the hook installed for all sessions) only the binding of process and session is kept. --installed marks that general
// entry: it does nothing in a launch of ccbot's own, which has its own entry.
//
// It decides nothing and answers no dialog.
package main
