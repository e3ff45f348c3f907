// Ccbot runs Claude Code sessions in tmux windows and lets people drive them from a Telegram chat.
//
// Each verb is one file, named after it. wire.go makes the parts of a running ccbot; startup.go and
// run.go start them. socket.go answers the verbs that a running ccbot carries out, and
// without_bot.go carries them out when no bot runs. The settings are in config.go, and the folders
// below hold the packages that all of this uses.
package main
