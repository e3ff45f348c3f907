// Ccbot runs Claude Code sessions in tmux windows and lets people drive them from a Telegram chat.
//
// Each verb is one file, named after it. wire.go makes the parts of a running ccbot, startup.go and
// run.go have them do their work; socket.go answers the verbs that a running ccbot does, and without_bot.go
// does them where none runs. The settings are in config.go, the rooms below are what all of it stands on.
package main
