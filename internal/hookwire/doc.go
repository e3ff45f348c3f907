// Package hookwire is what the hook binary and the bot share: the payload that Claude Code gives to a hook or a status
// line, the files that the hook leaves behind for the bot, the lines on the control socket, and the hook's side of it.
//
// It promises that a file is complete or absent (temporary name, then rename), that two hooks never take each other's
// name, that an answer is a decision that allows or denies or nothing at all, and that reading foreign bytes gives a
// value or an error and never a panic. It uses the standard library and procstat only, and of that what starts fast: every
// prompt that a person types starts a program made of it.
//
// Relay alone waits and connects. Nothing here locks, syncs to disk or decides anything: what a file or a call means is
// judged by the bot, which proves process ids again from the kernel.
package hookwire
