package process

import (
	"errors"
	"fmt"
	"slices"
)

// lineage is this process and its ancestors now. With an error it is the part that could be read:
// it ends below a parent that is hidden (hidepid) or cannot be read, and the ancestors of that
// parent are unknown.
func (t *Table) lineage() (Snapshot, error) {
	var line []Process
	var err error
	// A parent that ends during the walk breaks the line; its children then have a new parent.
	for range 3 {
		if line, err = t.walkUp(); !errors.Is(err, ErrGone) {
			break
		}
	}
	return Snapshot{Processes: line}, err
}

func (t *Table) walkUp() (line []Process, _ error) {
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

// mayBeAbove reports whether p could be an ancestor that an incomplete line does not show. A parent
// is older than its children, even a parent that adopts them later, so a process that started after
// us is not our ancestor.
func (t *Table) mayBeAbove(p Process, line Snapshot) bool {
	return p.Start <= t.self.Start || len(line.Processes) == 0
}
