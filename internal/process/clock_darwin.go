package process

import "time"

// tick is the unit of Identity.Start.
const tick = time.Millisecond

// now reads the wall clock, because the kernel of darwin records a process's start by that clock.
func (sysctls) now() (uint64, error) { return uint64(time.Now().UnixMilli()), nil }

// terminalName is always empty on darwin: it would have to search /dev, because the majors of the
// terminals are assigned at boot.
func terminalName(int) string { return "" }
