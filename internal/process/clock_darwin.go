package process

import "time"

// tick is the unit of Identity.Start.
const tick = time.Millisecond

// now is the wall clock, because that is what the kernel notes as a start.
func (sysctls) now() (uint64, error) { return uint64(time.Now().UnixMilli()), nil }

// terminalName would have to search /dev on darwin: the majors of its terminals are given out at boot.
func terminalName(int) string { return "" }
