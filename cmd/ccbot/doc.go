// Ccbot runs sessions of Claude Code and Codex in tmux windows and lets people drive them from a
// Telegram chat.
//
// This package is the command line: each verb is one file, named after it, with its flags and its
// output. Package offline has the data of reading verbs; the bot itself, and the changes that verbs
// request, are in package running. The other folders below hold their parts; config has the
// settings.
package main
