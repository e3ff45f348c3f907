package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// uptime is how long the machine is up, without the time in which it slept. Nobody sets that clock.
func uptime() (time.Duration, error) {
	var ts unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return time.Duration(ts.Nano()), err
}
