package process

import (
	"errors"
	"fmt"
	"slices"
)

// lineage is this process and what is above it now. With an error it is all that could be seen: a parent that is hidden
// (hidepid) or cannot be read ends it, and what is above that one is not known.
func (t *Table) lineage() (Snapshot, error) {
	var line []Process
	var err error
	for range 3 { // a parent that ends while we walk breaks the line; its children then have a new one
		if line, err = t.walkUp(); !errors.Is(err, ErrGone) {
			break
		}
	}
	return Snapshot{Processes: line}, err
}

func (t *Table) walkUp() ([]Process, error) {
	var line []Process
	for pid := t.self.PID; ; {
		p, err := t.kernel.process(pid)
		if err != nil {
			return line, fmt.Errorf("read pid %d: %w", pid, err)
		}
		p.Boot = t.boot
		line = append(line, p)
		seen := slices.ContainsFunc(line, func(above Process) bool { return above.PID == p.PPID })
		if p.PPID <= 1 || seen {
			return line, nil
		}
		pid = p.PPID
	}
}

// mayBeAbove says whether p could be an ancestor that an incomplete line does not show. A parent is older than its
// children, also one that takes them over later, so whoever started after us is not above us.
func (t *Table) mayBeAbove(p Process, line Snapshot) bool {
	return p.Start <= t.self.Start || len(line.Processes) == 0
}
