package process

import (
	"fmt"
	"math"
	"time"
)

// Moment is a point in time on the kernel's own clock, in the unit of [Identity.Start]: a change of the wall clock does
// not move it. On darwin the kernel tells a start by the wall clock only, and a Moment follows it there.
type Moment struct {
	// Boot is the kernel's random id of this boot.
	Boot string `json:"boot"`
	// Tick counts the unit of [Identity.Start], rounded down as the kernel does there.
	Tick uint64 `json:"tick"`
}

// Valid says that both parts are there. Before and after an incomplete moment nothing is known.
func (m Moment) Valid() bool { return m.Boot != "" && m.Tick > 0 }

// IsZero says that nothing is there; encoding/json leaves such a field out with "omitzero".
func (m Moment) IsZero() bool { return m == Moment{} }

// Moment is now.
func (t *Table) Moment() (Moment, error) {
	tick, err := t.kernel.now()
	if err != nil {
		return Moment{}, fmt.Errorf("process: clock: %w", err)
	}
	return Moment{Boot: t.boot, Tick: tick}, nil
}

// StartedAfter says whether the process started after the moment. Ask only about a process that lives: one of another
// boot than the moment's started after it. In the same tick is Yes too: a tick is 10 ms, and what may have come later is
// not a leftover. It is Maybe when the identity or the moment is incomplete.
func (i Identity) StartedAfter(m Moment) Answer {
	switch {
	case !i.Valid() || !m.Valid():
		return Maybe
	case i.Boot != m.Boot || i.Start >= m.Tick:
		return Yes
	default:
		return No
	}
}

// Age is how long the process had been running at the moment; false when that cannot be said: another boot, something
// incomplete, or a start after the moment by more than the rounding.
func (i Identity) Age(m Moment) (time.Duration, bool) {
	switch {
	case !i.Valid() || !m.Valid() || i.Boot != m.Boot:
		return 0, false
	case i.Start > m.Tick:
		return 0, i.Start-m.Tick == 1
	case m.Tick-i.Start > uint64(math.MaxInt64/tick): // only a damaged record holds such a number
		return 0, false
	default:
		return time.Duration(m.Tick-i.Start) * tick, true
	}
}
