// Package hookwire is shared by the hook binary and the bot: the payload that Claude Code gives to
// a hook or a status line, the files that the hook leaves for the bot, the lines on the control
// socket, and the hook's side of that socket.
//
// It promises that a file is complete or absent (temporary name, then rename), that two hooks never
// take each other's name, that an answer is a decision that allows or denies or nothing at all, and
// that reading foreign bytes returns a value or an error and never panics. It uses only procstat
// and those parts of the standard library that start fast: every prompt that a person types starts
// a program that contains this package.
//
// Only Relay waits and connects. Nothing here locks, syncs to disk or decides anything: the bot
// judges what a file or a call means, and proves process ids again from the kernel.
package hookwire
