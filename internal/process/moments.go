package process

import (
	"fmt"
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// Clock measures how much time has passed by the clock of [Moment], which no person sets on Linux
// and which continues while the machine sleeps. A moment is text that others store.
type Clock struct{ Table *Table }

// Uptime returns how long the machine is up, without the time in which it slept.
func (Clock) Uptime() time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(uptimeClock, &ts) // each kernel that Go runs on has it
	return time.Duration(ts.Nano())
}

// Now returns the present moment, empty if the clock cannot be read.
func (c Clock) Now() string {
	m, err := c.Table.Moment()
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d.%s", m.Tick, m.Boot)
}

// Since returns the time since a moment. It is false for a text that Now did not return and for a
// moment of another boot or another clock.
func (c Clock) Since(moment string) (time.Duration, bool) {
	var then Moment
	now, err := c.Table.Moment()
	if n, scanErr := fmt.Sscanf(moment, "%d.%s", &then.Tick, &then.Boot); err != nil || scanErr != nil || n != 2 {
		return 0, false
	}
	passed := now.Tick - then.Tick
	if now.Boot != then.Boot || now.Tick < then.Tick || passed > uint64(math.MaxInt64/tick) {
		return 0, false
	}
	return time.Duration(passed) * tick, true
}
