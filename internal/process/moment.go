package process

import (
	"fmt"
	"math"
	"time"
)

// Moment is a point in time on the kernel's own clock, in the unit of [Identity.Start]: a change of
// the wall clock does not move it. On darwin the kernel records a start by the wall clock only, and
// there a Moment follows that clock.
type Moment struct {
	// Boot is the kernel's random id of this boot.
	Boot string `json:"boot"`
	// Tick counts units of [Identity.Start], rounded down as the kernel does for a start.
	Tick uint64 `json:"tick"`
}

// Valid reports whether both parts are present. With an incomplete moment no order in time is
// known.
func (m Moment) Valid() bool { return m.Boot != "" && m.Tick > 0 }

// IsZero reports whether no part is present; encoding/json omits such a field with "omitzero".
func (m Moment) IsZero() bool { return m == Moment{} }

// Moment returns the current moment.
func (t *Table) Moment() (Moment, error) {
	tick, err := t.kernel.now()
	if err != nil {
		return Moment{}, fmt.Errorf("process: clock: %w", err)
	}
	return Moment{Boot: t.boot, Tick: tick}, nil
}

// StartedAfter reports whether the process started after the moment. Call it only for a process
// that lives: a living process of another boot than the moment's started after it. A start in the
// same tick is Yes too: a tick is 10 ms, and a process that may have started later is not a
// leftover. The answer is Maybe when the identity or the moment is incomplete.
func (i Identity) StartedAfter(m Moment) Answer {
	switch {
	case !i.Valid() || !m.Valid():
		return Maybe
	case i.Boot != m.Boot || i.Start >= m.Tick:
		return Yes
	}
	return No
}

// Age is how long the process had been running at the moment. It is false when that is unknown:
// another boot, an incomplete identity or moment, or a start that is after the moment by more than
// the rounding.
func (i Identity) Age(m Moment) (time.Duration, bool) {
	switch {
	case !i.Valid() || !m.Valid() || i.Boot != m.Boot:
		return 0, false
	case i.Start > m.Tick:
		return 0, i.Start-m.Tick == 1
	case m.Tick-i.Start > uint64(math.MaxInt64/tick):
		// Only a damaged record contains such a number.
		return 0, false
	}
	return time.Duration(m.Tick-i.Start) * tick, true
}
