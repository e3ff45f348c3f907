package process

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"ccbot/internal/procstat"
)

var (
	// ErrGone means that there is no such process, or no longer one. A zombie is gone too.
	ErrGone = errors.New("process: gone")
	// ErrSurvived means that a process was still there after KILL, for example in an
	// uninterruptible wait.
	ErrSurvived = errors.New("process: survived KILL")
)

// Identity names one process for its whole life: a pid alone is reused, pid + start + boot is not.
type Identity struct {
	PID int `json:"pid"`
	// Start is field 22 of /proc/PID/stat, in clock ticks since boot (proc_pid_stat(5)); on darwin
	// milliseconds since 1970.
	Start uint64 `json:"start"`
	// Boot is the kernel's random id of this boot. In a time namespace of Linux that has another
	// boot clock, the difference of the clocks follows the id: only starts with the same Boot can
	// be compared.
	Boot string `json:"boot"`
}

// SameBoot reports whether two values of [Identity.Boot] are of one boot of the machine.
func SameBoot(a, b string) bool { return procstat.SameBoot(a, b) }

// OtherClock reports whether two values of [Identity.Boot] are of one boot, and their starts are of
// two clocks.
func OtherClock(a, b string) bool { return a != b && SameBoot(a, b) }

// Incomparable reports whether two identities may name one process, although they differ: they have
// one pid in one boot, and their starts are of two clocks.
func (i Identity) Incomparable(other Identity) bool {
	return i.Valid() && other.Valid() && i.PID == other.PID && OtherClock(i.Boot, other.Boot)
}

// Valid reports whether all three parts are present. An incomplete identity names no process and is
// never acted on.
func (i Identity) Valid() bool { return i.PID > 0 && i.Start > 0 && i.Boot != "" }

// String is the pid with its start time, for logs and receipts.
func (i Identity) String() string {
	return strconv.Itoa(i.PID) + "@" + strconv.FormatUint(i.Start, 10)
}

// Text names the process in a text that others store and give back; see ParseIdentity.
func (i Identity) Text() string { return fmt.Sprintf("%d.%d.%s", i.PID, i.Start, i.Boot) }

// ParseIdentity reads a text that Text has written. For any other text the identity is not valid.
func ParseIdentity(text string) (i Identity) {
	if n, err := fmt.Sscanf(text, "%d.%d.%s", &i.PID, &i.Start, &i.Boot); n != 3 || err != nil || i.Text() != text {
		return Identity{}
	}
	return i
}

// Liveness is the state of a process. Its zero value is Unknown, which does not mean dead.
type Liveness int

// Unknown: this could not be found out. Alive: exactly this process runs. Gone: exactly this
// process is proven not to run.
const (
	Unknown Liveness = iota
	Alive
	Gone
)

// String is "alive", "gone" or "unknown".
func (l Liveness) String() string { return [...]string{"unknown", "alive", "gone"}[l] }

// Answer is yes, no or unknown; the zero value is unknown.
type Answer int

// Maybe is the zero value: the evidence is incomplete or contradicts itself, so callers neither
// start nor end a process on it.
const (
	Maybe Answer = iota
	No
	Yes
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
// leftover. The answer is Maybe when the identity or the moment is incomplete, or when they are of
// two clocks.
func (i Identity) StartedAfter(m Moment) Answer {
	switch {
	case !i.Valid() || !m.Valid() || OtherClock(i.Boot, m.Boot):
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
