package process

import (
	"time"

	"golang.org/x/sys/unix"
)

// tick is the unit of Identity.Start.
const tick = time.Millisecond

// uptimeClock stands while the machine sleeps.
const uptimeClock = unix.CLOCK_UPTIME_RAW

// now reads the wall clock, because the kernel of darwin records a process's start by that clock.
func (sysctls) now() (uint64, error) { return uint64(time.Now().UnixMilli()), nil }

// terminalName is always empty on darwin: it would have to search /dev, because the majors of the
// terminals are assigned at boot.
func terminalName(int) string { return "" }
