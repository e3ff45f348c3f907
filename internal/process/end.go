package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// Grace is how long a process may take, counted from the hang-up (or, without one, from the first
// TERM). A time that is not positive means its default: TERM after 2 s, KILL after 12 s, because a
// busy agent may need 10 s for its last hook.
type Grace struct {
	Term, Kill time.Duration
	// BeforeKill is called once, right before KILL is sent, so that the caller can put on disk what
	// it must know if it dies right after. An error means that no KILL is sent.
	BeforeKill func(context.Context) error
}

// afterKill is how long a process may take to disappear after KILL; a longer time means an
// uninterruptible wait in the kernel.
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

// How is the way in which a process ended.
type How string

const (
	HowHangUp      How = "hup"          // the hang-up was enough
	HowTerm        How = "term"         // after TERM
	HowKill        How = "kill"         // after KILL
	HowAlreadyGone How = "already_gone" // before anything was done
)

// Reasons that are not the name of a guard.
const (
	// ReasonUnreadable: the process, or information needed about it, could not be read.
	ReasonUnreadable = "unreadable"
	ReasonUnproven   = "unproven" // prove refused without a reason
)

// Outcome is the receipt for one process.
type Outcome struct {
	Process  Process // as read just before the decision; only the identity when it was already gone
	How      How     // the last step that was taken; empty when none was
	Ended    bool
	Verified bool   // the kernel confirmed that it is gone
	Spared   string // why it was left alone, if need be after some steps; empty otherwise
	// Reason is the same as a short code: the name of a guard, a Reason… constant or a [Spare]'s
	// Reason.
	Reason string
}

// Spare is prove's error for a process that is left alone; its Reason is copied to the Outcome.
type Spare struct {
	Reason string
	Detail string // one English clause, for logs
}

// Error returns the detail, or the reason if there is no detail.
func (s *Spare) Error() string { return cmp.Or(s.Detail, s.Reason) }

// End ends one process: it holds the process, reads it, checks that it is exactly id and that no
// guard protects it (ourselves, our ancestors, pid 1, tmux, other users), and calls prove with the
// process as just read. Any refusal spares the process. Then End hangs up (hangUp may be nil: TERM
// is sent at once), sends TERM and at last KILL as grace says, and verifies. Before each signal it
// reads the process and asks the guards again, because the user and the ancestors may have changed
// since. prove is not called again, because an agent that cleans up removes its own evidence first.
//
// A hang-up that fails only makes TERM come earlier; its error is returned when the process does
// not end. The error is nil both when the process was spared and when it ended. It is not nil when
// something could not be found out (no signal is sent from then on), when ctx ended in between or
// BeforeKill failed (no further step was taken), or, as [ErrSurvived], when the process was still
// there after KILL.
//
// Only End and Continue signal a process.
func (t *Table) End(ctx context.Context, id Identity, prove func(Process) error, hangUp func(context.Context) error, g Grace) (Outcome, error) {
	out, err := t.end(ctx, id, prove, hangUp, g)
	if err != nil {
		return out, fmt.Errorf("process: end %s: %w", id, err)
	}
	return out, nil
}

// Continue sends SIGCONT to one process, after the checks of End. Any refusal is an error, and no signal is sent.
func (t *Table) Continue(id Identity, prove func(Process) error) error {
	h, p, err := t.take(id)
	if err != nil {
		return fmt.Errorf("process: continue %s: %w", id, err)
	}
	defer h.close()
	if no := t.refuse(p, prove); no != nil {
		return fmt.Errorf("process: continue %s: %w", id, cmp.Or[error](no.err, errors.New(no.sentence)))
	}
	if err := h.signal(syscall.SIGCONT); err != nil {
		return fmt.Errorf("process: continue %s: %w", id, err)
	}
	return nil
}

func (t *Table) end(ctx context.Context, id Identity, prove func(Process) error, hangUp func(context.Context) error, g Grace) (Outcome, error) {
	out := Outcome{Process: Process{Identity: id}}
	if !id.Valid() {
		return out, out.spare(&refusal{reason: GuardIdentity, sentence: "its identity is incomplete"})
	}
	h, p, err := t.take(id)
	if errors.Is(err, ErrGone) {
		out.How, out.Ended, out.Verified = HowAlreadyGone, true, true
		return out, nil
	}
	if err != nil {
		return out, out.spare(unreadable("it cannot be read", err))
	}
	defer h.close()
	out.Process = p
	if no := t.refuse(p, prove); no != nil {
		return out, out.spare(no)
	}
	e := ending{table: t, id: id, handle: h, grace: g.orDefault(), started: time.Now()}
	err = e.escalate(ctx, hangUp)
	out.How = e.how
	switch {
	case e.refused != nil:
		return out, errors.Join(out.spare(e.refused), e.hangUpErr)
	case err != nil:
		return out, errors.Join(err, e.hangUpErr)
	}
	out.How = cmp.Or(e.how, HowAlreadyGone)
	out.Ended, out.Verified = true, t.Liveness(id) == Gone
	return out, nil
}

// refusal is a reason not to end a process. err is set when the reason is that something could not
// be found out.
type refusal struct {
	reason, sentence string
	err              error
}

func unreadable(sentence string, err error) *refusal {
	return &refusal{reason: ReasonUnreadable, sentence: sentence, err: err}
}

// spare writes the refusal into the receipt and returns the refusal's error.
func (o *Outcome) spare(r *refusal) error {
	o.Reason, o.Spared = r.reason, r.sentence
	if r.err != nil {
		return fmt.Errorf("%s: %w", r.sentence, r.err)
	}
	return nil
}

// refuse returns the reason for which p must not be ended, or nil.
func (t *Table) refuse(p Process, prove func(Process) error) *refusal {
	if no := t.guarded(p); no != nil {
		return no
	}
	if prove == nil {
		return &refusal{reason: ReasonUnproven, sentence: "nothing proves it"}
	}
	err := prove(p)
	var spare *Spare
	switch {
	case err == nil:
		return nil
	case errors.As(err, &spare):
		return &refusal{reason: cmp.Or(spare.Reason, ReasonUnproven), sentence: err.Error()}
	}
	return &refusal{reason: ReasonUnproven, sentence: "not proven: " + err.Error()}
}

// guarded asks the guards that protect a process from every caller.
func (t *Table) guarded(p Process) *refusal {
	line, err := t.lineage()
	if err != nil && t.mayBeAbove(p, line) {
		return unreadable("the ancestors of ccbot cannot be read", err)
	}
	if g, spared := firstThatSpares(p, line, alwaysGuards(t.self)); spared {
		return &refusal{reason: g.Name, sentence: g.Why}
	}
	return nil
}

// ending is the state of ending one proven process. The handle keeps naming that process, so the
// process is not proven again between the steps.
type ending struct {
	table     *Table
	id        Identity
	handle    handle
	grace     Grace
	started   time.Time
	how       How
	refused   *refusal // a reason found between the steps; it forbids every further signal
	hangUpErr error    // returned when the process does not end
}

var errRefused = errors.New("refused")

// escalate takes the steps one after the other until the process is gone (nil).
func (e *ending) escalate(ctx context.Context, hangUp func(context.Context) error) error {
	gone, err := e.hangUp(ctx, hangUp)
	if !gone && err == nil {
		gone, err = e.signalAndWait(ctx, HowTerm, syscall.SIGTERM, func() time.Time { return e.started.Add(e.grace.Kill) })
	}
	if !gone && err == nil {
		gone, err = e.kill(ctx)
	}
	if !gone && err == nil {
		err = ErrSurvived
	}
	return err
}

// hangUp asks the process to end, as a closed terminal does, and waits until it is time for TERM.
// After a failed hang-up it does not wait.
func (e *ending) hangUp(ctx context.Context, hangUp func(context.Context) error) (gone bool, err error) {
	if hangUp == nil {
		return false, nil
	}
	e.how = HowHangUp
	deadline := e.started.Add(e.grace.Term)
	bounded, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	if err := hangUp(bounded); err != nil {
		e.hangUpErr = fmt.Errorf("hang up: %w", err)
		return false, nil
	}
	return e.waitUntil(ctx, deadline)
}

// kill sends KILL; before that it calls BeforeKill, in which the caller can write down what it must
// know.
func (e *ending) kill(ctx context.Context) (gone bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if gone, err := e.handle.exited(); gone || err != nil {
		return gone, err
	}
	if e.grace.BeforeKill != nil {
		if err := e.grace.BeforeKill(ctx); err != nil {
			return false, fmt.Errorf("before KILL: %w", err)
		}
	}
	return e.signalAndWait(ctx, HowKill, syscall.SIGKILL, func() time.Time { return time.Now().Add(afterKill) })
}

// signalAndWait is one step: nothing is sent when ctx or the process has ended, or when a guard
// protects the process.
func (e *ending) signalAndWait(ctx context.Context, how How, sig syscall.Signal, deadline func() time.Time) (gone bool, err error) {
	if gone, err := e.recheck(ctx); gone || err != nil {
		return gone, err
	}
	err = e.handle.signal(sig)
	switch {
	case err == nil:
		e.how = how
	case !errors.Is(err, syscall.ESRCH):
		// After ESRCH, which is not this case, the wait below returns at once: the process has
		// ended.
		return false, fmt.Errorf("%s: %w", how, err)
	}
	return e.waitUntil(ctx, deadline())
}

// recheck reads the held process once more and calls the guards: since the last read the process
// may have changed its user, or may have become our parent.
func (e *ending) recheck(ctx context.Context) (gone bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	p, err := e.table.inspectHeld(e.handle, e.id)
	if err != nil {
		if exited, _ := e.handle.exited(); exited {
			return true, nil
		}
		e.refused = unreadable("it cannot be read any more", err)
	} else {
		e.refused = e.table.guarded(p)
	}
	if e.refused != nil {
		return false, errRefused
	}
	return false, nil
}

// waitUntil returns false without an error when the deadline comes first.
func (e *ending) waitUntil(ctx context.Context, deadline time.Time) (gone bool, err error) {
	bounded, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	err = e.handle.wait(bounded)
	switch {
	case err == nil:
		return true, nil
	case ctx.Err() != nil:
		return false, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return false, nil
	}
	return false, err
}
