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
	statThreads = 17
	statStart   = 19
)

// parseStat reads /proc/PID/stat. comm is whatever the process calls itself: it may hold spaces, newlines and ")", so
// the last ")" ends it.
func parseStat(data []byte) (Process, error) {
	open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if open < 1 || end < open {
		return Process{}, errors.New("stat: no command name")
	}
	fields := bytes.Fields(data[end+1:])
	if len(fields) <= statStart || len(fields[statState]) != 1 {
		return Process{}, fmt.Errorf("stat: %d fields after the command name", len(fields))
	}
	start, err := strconv.ParseUint(string(fields[statStart]), 10, 64)
	if err != nil {
		return Process{}, fmt.Errorf("stat: start time: %w", err)
	}
	ints := intFields{fields: fields}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(data[:open])))
	if err != nil {
		return Process{}, fmt.Errorf("stat: pid: %w", err)
	}
	p := Process{
		Identity: Identity{PID: pid, Start: start}, State: fields[statState][0], Comm: string(data[open+1 : end]),
		PPID: ints.at(statPPID), PGID: ints.at(statPGID), SID: ints.at(statSID),
		TTY: ints.at(statTTY), Foreground: ints.at(statForeground),
	}
	// A process whose first thread has ended while others run reads Z as well. It is alive: never take it for a zombie.
	if p.Gone() && ints.at(statThreads) > 1 {
		p.State = 'S'
	}
	return p, ints.err
}

// intFields reads numbers and keeps the first error.
type intFields struct {
	fields [][]byte
	err    error
}

func (f *intFields) at(i int) int {
	n, err := strconv.Atoi(string(f.fields[i]))
	if err != nil && f.err == nil {
		f.err = fmt.Errorf("stat: field %d: %w", i+3, err)
	}
	return n
}

// parseStatus reads the thread group and the effective user id of /proc/PID/status. The owner of /proc/PID would be
// cheaper, but it reads root for every process that is not dumpable.
func parseStatus(data []byte) (tgid, uid int, err error) {
	tgid, err = statusField(data, "\nTgid:", 0)
	if err != nil {
		return 0, 0, err
	}
	uid, err = statusField(data, "\nUid:", 1) // real, effective, saved, file system
	return tgid, uid, err
}

func statusField(data []byte, key string, n int) (int, error) {
	_, rest, ok := bytes.Cut(data, []byte(key))
	if !ok {
		return 0, fmt.Errorf("status: no %q", key[1:])
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	fields := bytes.Fields(line)
	if len(fields) <= n {
		return 0, fmt.Errorf("status: %s %q", key[1:], line)
	}
	value, err := strconv.Atoi(string(fields[n]))
	if err != nil {
		return 0, fmt.Errorf("status: %s %w", key[1:], err)
	}
	return value, nil
}
