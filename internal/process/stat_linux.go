package process

import (
	"fmt"

	"ccbot/internal/procstat"
)

// errThread: /proc/TID can be opened though it is never listed. No process has that number.
var errThread = fmt.Errorf("a thread of another process: %w", ErrGone)

// parseStat reads /proc/PID/stat, all but the owner.
func parseStat(data []byte) (Process, error) {
	s, err := procstat.Parse(data)
	if err == nil && s.Thread {
		err = errThread
	}
	if err != nil {
		return Process{}, err
	}
	return Process{Identity: Identity{PID: s.PID, Start: s.Start}, State: s.State, Comm: s.Comm,
		PPID: s.PPID, PGID: s.PGID, SID: s.SID, TTY: s.TTY, Foreground: s.Foreground}, nil
}
