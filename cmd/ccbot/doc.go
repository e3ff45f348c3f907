// Ccbot runs Claude Code sessions in tmux windows and lets people drive them from a Telegram chat.
//
// This package is the command line: each verb is one file, named after it, with its flags and what it prints. What a verb
// sees is package desk; the bot itself, and what a verb has it change, is package running. The other folders below hold
// what these use; config has the settings.
package main
