// Package gauge says of this machine what is shown to people: when it was started, how much room
// a disk has, how much memory a process takes.
//
// It promises numbers as the kernel tells them, and an error where it does not. Nothing is decided
// about a process on them: a pid alone is reused (see package process), and the time of the start is
// of the wall clock, which may be set.
package gauge
