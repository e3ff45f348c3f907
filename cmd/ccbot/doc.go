// Ccbot runs Claude Code sessions in tmux windows and lets people drive them from a Telegram chat.
//
// Each verb is one file, named after it. wire.go makes the parts of a running ccbot; startup.go and
// run.go start them. What a verb changes is a change, change.go: socket.go serves it in a running
// ccbot, without_bot.go has it made where no bot runs. desk.go finds sessions by the chat's rule,
// and says what the chat says. The folders below hold the packages that all of this uses; config has
// the settings.
package main
