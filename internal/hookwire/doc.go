// Package hookwire is what the hook binary and the bot share: the payload that Claude Code gives to a hook, and the
// files that the hook leaves behind for the bot.
//
// It promises that a file is complete or absent (temporary name, then rename), that two hooks never take each other's
// name, and that reading foreign bytes gives a value or an error and never a panic. It uses the standard library only,
// because every prompt that a person types starts a program made of it.
//
// It does not lock, wait, sync to disk, speak to a network or decide anything: what a file means is judged by the bot,
// which proves process ids again from the kernel.
package hookwire
