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
	// Chain is the peer, its parent and so on upwards. Each was read again after its parent, so the link was true while both
	// lived.
	Chain []process.Process
	// Whole says that Chain reaches pid 1. Without it something above is hidden, of another pid namespace, or not proven.
	Whole bool
}

// Orphan says that the peer is in no terminal that what is above it has opened, as when a program has cut itself loose
// from what started it. One that has kept the terminal is known by its session's leader, which is not above it any more. A
// terminal of pid 1 does not count: in a container that is the person's shell, and every orphan is below it.
func (p Peer) Orphan() bool {
	return !slices.ContainsFunc(p.Chain, func(q process.Process) bool { return q.PID != 1 && q.TTY != 0 && p.leads(q.SID) })
}

// leads says whether the leader of a terminal's session is in the chain; where the kernel does not tell it (darwin), yes.
func (p Peer) leads(sid int) bool {
	return sid == 0 || slices.ContainsFunc(p.Chain, func(q process.Process) bool { return q.PID == sid })
}

// Table reads one process; *process.Table has it. The error is process.ErrGone when there is none.
type Table interface {
	Inspect(pid int) (process.Process, error)
}

// maxChain bounds the walk upwards. Nobody nests that deep but to keep us busy.
const maxChain = 64

// errMoved says that a parent changed while the chain was read, as it does when one ends.
var errMoved = errors.New("the processes above it change all the time")

// chainOf reads a process and everything above it.
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

// parentOf reads the parent of p, and then p once more: only if p is still the same child of the same parent was that
// process its parent. Not ok: who is above p cannot be told.
func parentOf(t Table, p process.Process) (parent process.Process, ok bool, err error) {
	parent, readErr := t.Inspect(p.PPID)
	again, err := t.Inspect(p.PID)
	switch {
	case errors.Is(err, process.ErrGone):
		return process.Process{}, false, errMoved // if it is the peer itself, the next try says so
	case err != nil:
		return process.Process{}, false, nil
	case again.Identity != p.Identity || again.PPID != p.PPID:
		return process.Process{}, false, errMoved
	case errors.Is(readErr, process.ErrGone):
		return process.Process{}, false, errMoved
	case readErr != nil:
		return process.Process{}, false, nil // hidden
	}
	// A parent is older than its children, also one that takes them over: a younger one has a reused pid.
	return parent, parent.Start <= p.Start, nil
}
