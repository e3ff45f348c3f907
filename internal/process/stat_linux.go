package process

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// Positions in /proc/PID/stat after "pid (comm)", counted from 0; proc_pid_stat(5) counts state as field 3.
const (
	statState = iota
	statPPID
	statPGID
	statSID
	statTTY
	statForeground
	statThreads    = 17
	statStart      = 19
	statExitSignal = 35
	statFields     = statExitSignal + 1
)

// errThread: /proc/TID can be opened though it is never listed. No process has that number.
var errThread = fmt.Errorf("a thread of another process: %w", ErrGone)

// parseStat reads /proc/PID/stat, all but the owner. comm is whatever the process calls itself: it may hold spaces,
// newlines and ")", so the last ")" ends it.
func parseStat(data []byte) (Process, error) {
	open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if open < 1 || end < open {
		return Process{}, errors.New("stat: no command name")
	}
	var f statNumbers
	if n := f.split(data[end+1:]); n < statFields || len(f.fields[statState]) != 1 {
		return Process{}, fmt.Errorf("stat: %d fields after the command name", n)
	}
	start, err := strconv.ParseUint(string(f.fields[statStart]), 10, 64)
	if err != nil {
		return Process{}, fmt.Errorf("stat: start time: %w", err)
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(data[:open])))
	if err != nil {
		return Process{}, fmt.Errorf("stat: pid: %w", err)
	}
	p := Process{
		Identity: Identity{PID: pid, Start: start}, State: f.fields[statState][0], Comm: string(data[open+1 : end]),
		PPID: f.at(statPPID), PGID: f.at(statPGID), SID: f.at(statSID), TTY: f.at(statTTY), Foreground: f.at(statForeground),
	}
	// A process whose first thread has ended while others run reads Z as well. It is alive: never take it for a zombie.
	if p.Gone() && f.at(statThreads) > 1 {
		p.State = 'S'
	}
	if f.at(statExitSignal) < 0 && f.err == nil { // the kernel's own mark of a thread that is not a process
		return Process{}, errThread
	}
	return p, f.err
}

// statNumbers are the fields after the name. It keeps the first error, and allocates nothing: there is one per process.
type statNumbers struct {
	fields [statFields][]byte
	err    error
}

// split gives the number of fields found, as many as are wanted at most.
func (f *statNumbers) split(data []byte) int {
	n := 0
	for field := range bytes.FieldsSeq(data) {
		if n == len(f.fields) {
			break
		}
		f.fields[n] = field
		n++
	}
	return n
}

func (f *statNumbers) at(i int) int {
	n, err := strconv.Atoi(string(f.fields[i]))
	if err != nil && f.err == nil {
		f.err = fmt.Errorf("stat: field %d: %w", i+3, err)
	}
	return n
}
