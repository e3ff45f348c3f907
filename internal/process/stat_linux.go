package process

import (
	"fmt"

	"ccbot/internal/procstat"
)

// errThread means that the number is a thread's: /proc/TID can be opened although it is never
// listed. No process has that number.
var errThread = fmt.Errorf("a thread of another process: %w", ErrGone)

// parseStat reads everything in /proc/PID/stat; the owner is not in that file.
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
