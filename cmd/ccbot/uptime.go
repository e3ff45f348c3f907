package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// uptime is how long the machine is up, without the time in which it slept. It uses a clock that
// nobody can set.
func uptime() time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // each kernel that Go runs on has it
	return time.Duration(ts.Nano())
}
