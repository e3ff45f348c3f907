package process

import (
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// tick is the unit of Identity.Start. USER_HZ is 100 wherever Go runs.
const tick = 10 * time.Millisecond

// uptimeClock stands while the machine sleeps.
const uptimeClock = unix.CLOCK_MONOTONIC

// now reads the clock of field 22 of /proc/PID/stat, which continues while the machine sleeps.
func (k procfs) now() (uint64, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0, fmt.Errorf("CLOCK_BOOTTIME: %w", err)
	}
	return uint64(time.Duration(ts.Nano()) / tick), nil
}

// Majors of terminals, from the kernel's Documentation/admin-guide/devices.txt.
const (
	majorTTY      = 4   // consoles, and from minor 64 on serial lines
	majorAltTTY   = 5   // minor 1 is the system console
	majorPTSFirst = 136 // eight majors; current kernels use only the first
	majorPTSLast  = 143
)

// terminalName takes the device number of field 7 of /proc/PID/stat, a 32-bit number that may be
// printed as negative.
func terminalName(tty int) string {
	dev := uint64(uint32(tty))
	major, minor := unix.Major(dev), unix.Minor(dev)
	number := func(prefix string, n uint32) string { return prefix + strconv.FormatUint(uint64(n), 10) }
	switch {
	case tty == 0:
		return ""
	case major >= majorPTSFirst && major <= majorPTSLast:
		return number("pts/", minor+(major-majorPTSFirst)*256)
	case major == majorTTY && minor < 64:
		return number("tty", minor)
	case major == majorTTY:
		return number("ttyS", minor-64)
	case major == majorAltTTY && minor == 1:
		return "console"
	}
	return ""
}
