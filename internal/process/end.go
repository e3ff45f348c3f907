package process

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Grace is how long a process may take, counted from the hang-up (or, without one, from the first TERM). A field that is
// not positive means its default: TERM after 2 s, KILL after 12 s, because a busy Claude Code needs up to 10 s for its
// last hook.
type Grace struct {
	Term, Kill time.Duration
}

// afterKill is how long KILL may take to be seen; longer means an uninterruptible wait in the kernel.
const afterKill = 5 * time.Second

func (g Grace) orDefault() Grace {
	if g.Term <= 0 {
		g.Term = 2 * time.Second
	}
	if g.Kill <= 0 {
		g.Kill = 12 * time.Second
	}
	g.Kill = max(g.Kill, g.Term)
	return g
}

// How a process ended.
type How string

const (
	HowHangUp      How = "hup"          // the hang-up was enough
	HowTerm        How = "term"         // after TERM
	HowKill        How = "kill"         // after KILL
	HowAlreadyGone How = "already_gone" // before anything was done
)

// Outcome is the receipt for one process.
type Outcome struct {
	Process  Process // as read just before the decision; only the identity when it was already gone
	How      How     // the last step that was taken; empty when spared
	Ended    bool
	Verified bool   // the kernel confirmed that it is gone
	Spared   string // why nothing was done to it; empty otherwise
}

// End ends one process: it holds it, reads it, checks that it is exactly id, of our user and neither ourselves, an
// ancestor nor pid 1, and asks prove about the process as just read. Any no spares it. Then it hangs up (hangUp may be
// nil: TERM comes at once), sends TERM and at last KILL as grace says, and verifies.
//
// A hang-up that fails only shortens the way to TERM; its error is told when the process does not end. Whether spared or
// ended the error is nil; it is not nil when something could not be found out (nothing was signalled then), when ctx
// ended in the middle (no further step was taken), or with [ErrSurvived] after KILL.
//
// This is the only function that signals a process.
func (t *Table) End(ctx context.Context, id Identity, prove func(Process) error, hangUp func(context.Context) error, g Grace) (Outcome, error) {
	out := Outcome{Process: Process{Identity: id}}
	if !id.Valid() {
		out.Spared = "its identity is incomplete"
		return out, nil
	}
	h, p, err := t.take(id)
	if errors.Is(err, ErrGone) {
		out.How, out.Ended, out.Verified = HowAlreadyGone, true, true
		return out, nil
	}
	if err != nil {
		out.Spared = "it cannot be read"
		return out, fmt.Errorf("process: end %s: %w", id, err)
	}
	defer h.close()
	out.Process = p
	if out.Spared, err = t.spare(p, prove); err != nil {
		return out, fmt.Errorf("process: end %s: %w", id, err)
	}
	if out.Spared != "" {
		return out, nil
	}
	e := ending{handle: h, grace: g.orDefault(), started: time.Now()}
	err = e.escalate(ctx, hangUp)
	out.How = e.how
	if err != nil {
		return out, fmt.Errorf("process: end %s: %w", id, err)
	}
	out.Ended, out.Verified = true, t.Liveness(id) == Gone
	return out, nil
}

// spare gives the reason not to end p, or nothing. An error comes with a reason: what is not known is spared.
func (t *Table) spare(p Process, prove func(Process) error) (string, error) {
	switch {
	case p.PID <= 1:
		return "it is pid 1", nil
	case p.PID == t.self.PID:
		return "it is ccbot itself", nil
	case p.UID != t.uid:
		return "it belongs to another user", nil
	case prove == nil:
		return "nothing proves it", nil
	}
	ancestors, err := t.ancestors()
	if err != nil {
		return "the ancestors of ccbot cannot be read", err
	}
	if slices.Contains(ancestors, p.PID) {
		return "it is an ancestor of ccbot", nil
	}
	if err := prove(p); err != nil {
		return "not proven: " + err.Error(), nil
	}
	return "", nil
}

// ancestors are the pids above this process now. Where the kernel hides other users' processes (hidepid=2) the chain ends
// at the first hidden one.
func (t *Table) ancestors() ([]int, error) {
	var pids []int
	var err error
	for range 3 { // a parent that ends while we walk breaks the chain; its children then have a new one
		if pids, err = t.walkUp(); !errors.Is(err, ErrGone) {
			return pids, err
		}
	}
	return pids, nil
}

// walkUp returns what it has found also with ErrGone, when a parent could not be seen.
func (t *Table) walkUp() ([]int, error) {
	var pids []int
	for pid := t.self.PID; ; {
		p, err := t.kernel.process(pid)
		if err != nil {
			return pids, fmt.Errorf("read pid %d: %w", pid, err)
		}
		if p.PPID <= 1 || slices.Contains(pids, p.PPID) {
			return pids, nil
		}
		pid = p.PPID
		pids = append(pids, pid)
	}
}
