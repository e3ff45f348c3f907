package process

import (
	"errors"
	"fmt"
	"strconv"
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
	// Boot is the kernel's random id of this boot.
	Boot string `json:"boot"`
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

// ParseIdentity reads a text that Text has written. Any other text gives an identity that is not
// valid.
func ParseIdentity(text string) (i Identity) {
	if n, err := fmt.Sscanf(text, "%d.%d.%s", &i.PID, &i.Start, &i.Boot); n != 3 || err != nil || i.Text() != text {
		return Identity{}
	}
	return i
}

// Liveness is what is known about a process. Its zero value is Unknown, which does not mean dead.
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

// String is "yes", "no" or "unknown".
func (a Answer) String() string { return [...]string{"unknown", "no", "yes"}[a] }
