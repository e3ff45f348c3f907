// Ccbot runs Claude Code sessions in tmux windows and lets people drive them
// from a Telegram chat.
//
// The program wires the packages together and decides the exit code: 0 after a
// clean stop, 1 failure, 2 wrong usage or configuration, 3 another ccbot is
// running. Each verb is one file.
package main
