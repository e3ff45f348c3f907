package procstat

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// Stat is one process, or a thread: /proc/TID can be opened though it is never listed.
type Stat struct {
	PID, PPID, PGID, SID int
	TTY, Foreground      int
	Start                uint64 // in clock ticks since the boot
	State                byte   // of all its threads: not Z where only the first has ended
	Comm                 string
	Thread               bool // the kernel's own mark of a thread that is not a process
}

// Gone says that a process in this state has ended and only waits to be collected by its parent.
func Gone(state byte) bool { return state == 'Z' || state == 'X' || state == 'x' }

// Positions after "pid (comm)", counted from 0; the manual counts state as field 3.
const (
	state = iota
	ppid
	pgid
	sid
	tty
	foreground
	threads    = 17
	start      = 19
	exitSignal = 35
)

// Parse reads the whole file. A process chooses its name, which may hold spaces, newlines and ")",
// so the last ")" ends it.
func Parse(data []byte) (Stat, error) {
	open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if open < 1 || end < open {
		return Stat{}, errors.New("stat: no command name")
	}
	var fields [exitSignal + 1][]byte
	n := 0
	for field := range bytes.FieldsSeq(data[end+1:]) {
		if fields[n] = field; n == exitSignal {
			break
		}
		n++
	}
	if n < exitSignal || len(fields[state]) != 1 {
		return Stat{}, fmt.Errorf("stat: %d fields after the command name", n)
	}
	began, failed := strconv.ParseUint(string(fields[start]), 10, 64)
	number := func(field []byte) int {
		n, err := strconv.Atoi(string(field))
		if err != nil {
			failed = err
		}
		return n
	}
	s := Stat{
		PID: number(bytes.TrimSpace(data[:open])), PPID: number(fields[ppid]), PGID: number(fields[pgid]), SID: number(fields[sid]),
		TTY: number(fields[tty]), Foreground: number(fields[foreground]), Start: began,
		State: fields[state][0], Comm: string(data[open+1 : end]), Thread: number(fields[exitSignal]) < 0,
	}
	if Gone(s.State) && number(fields[threads]) > 1 { // it is alive
		s.State = 'S'
	}
	if failed != nil {
		return Stat{}, fmt.Errorf("stat: %w", failed)
	}
	return s, nil
}
