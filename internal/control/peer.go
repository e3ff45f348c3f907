package control

import (
	"errors"
	"fmt"
	"slices"

	"ccbot/internal/process"
)

// Peer is the process at the other end of a connection, as the kernel knew it when it connected.
type Peer struct {
	PID, UID int
	// Chain is the peer, its parent and so on upwards. Each process was read again after its
	// parent, so it was the child of that parent while both lived.
	Chain []process.Process
	// Whole means that Chain reaches pid 1. Otherwise an ancestor is hidden, is in another pid
	// namespace, or is not proven.
	Whole bool
}

// Orphan reports whether the peer is in no terminal that one of its ancestors has opened, as after
// a program has detached itself from the process that started it. A peer that has kept the terminal
// is recognised by the leader of its session, which is no longer among its ancestors. A terminal of
// pid 1 does not count: in a container pid 1 is the person's shell, and every orphan is below it.
func (p Peer) Orphan() bool {
	leads := func(sid int) bool { // darwin does not report every session
		return sid == 0 || slices.ContainsFunc(p.Chain, func(q process.Process) bool { return q.PID == sid })
	}
	return !slices.ContainsFunc(p.Chain, func(q process.Process) bool { return q.PID != 1 && q.TTY != 0 && leads(q.SID) })
}

// Table reads one process; *process.Table implements it. The error is process.ErrGone when there is
// no such process.
type Table interface {
	Inspect(pid int) (process.Process, error)
}

// maxChain limits the walk upwards. Such a deep nesting would only serve to keep ccbot busy.
const maxChain = 64

// errMoved means that a parent changed while the chain was read, for example because it ended.
var errMoved = errors.New("the processes above it change all the time")

// chainOf reads a process and all its ancestors.
func chainOf(t Table, pid int) (chain []process.Process, whole bool, err error) {
	for range 3 {
		if chain, whole, err = climb(t, pid); !errors.Is(err, errMoved) {
			break
		}
	}
	return chain, whole, err
}

func climb(t Table, pid int) (chain []process.Process, whole bool, err error) {
	p, err := t.Inspect(pid)
	if err != nil {
		return nil, false, fmt.Errorf("read the peer: %w", err)
	}
	chain = []process.Process{p}
	for p.PID != 1 && p.PPID > 0 && len(chain) < maxChain {
		parent, ok, err := parentOf(t, p)
		if err != nil || !ok {
			return chain, false, err
		}
		chain = append(chain, parent)
		p = parent
	}
	return chain, p.PID == 1, nil
}

// parentOf reads the parent of p, and then p once more: the process read was the parent of p only
// if p is still the same child of the same parent. With ok false the ancestors of p cannot be found
// out.
func parentOf(t Table, p process.Process) (parent process.Process, ok bool, err error) {
	parent, readErr := t.Inspect(p.PPID)
	again, err := t.Inspect(p.PID)
	switch {
	case errors.Is(err, process.ErrGone):
		// If the peer itself is gone, the next try returns that error.
		return process.Process{}, false, errMoved
	case err != nil:
		return process.Process{}, false, nil
	case again.Identity != p.Identity || again.PPID != p.PPID:
		return process.Process{}, false, errMoved
	case errors.Is(readErr, process.ErrGone):
		return process.Process{}, false, errMoved
	case readErr != nil:
		return process.Process{}, false, nil // the parent is hidden
	}
	// A parent is older than its children, even a parent that adopts them: a younger process has a
	// reused pid.
	return parent, parent.Start <= p.Start, nil
}
