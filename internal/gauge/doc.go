// Package gauge measures this machine for people: its boot time and load, the free space of a disk,
// the memory of a process.
//
// It returns the kernel's numbers, or an error. Do not decide about a process by them: a pid is
// reused (see package process), and the boot time is of the wall clock, which may be set.
package gauge
