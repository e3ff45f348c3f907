package recovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/logkey"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/evidence"
)

// timeout limits the wait for a session's worker before its conversation stays in place. briefly
// limits the wait before a line of its history is left out. Both are short, because all other
// conversations wait at the same time.
const (
	timeout = 5 * time.Second
	briefly = time.Second
)

// Came is called for a process that has come to the conversation of a session that is not running.
// It decides to which session the conversation belongs, and moves that session. handled means that
// there is nothing to report about the process.
func (v *Recovery) Came(ctx context.Context, w evidence.Writer) (handled bool) {
	d, err := v.reconcile(ctx, w)
	if err != nil {
		v.Log.Warn("resume_unclear", logkey.PID, w.PID, logkey.AgentSessionID, w.AgentSessionID.String(), logkey.Error, err)
		return false
	}
	return slices.Contains([]outcome{sessionResumed, sessionActive, agentGone, lockTimeout}, d.Outcome)
}

// reconcile decides to which session the conversation of a process belongs, and acts on it.
func (v *Recovery) reconcile(ctx context.Context, w evidence.Writer) (resume, error) {
	d, done, err := v.decide(ctx, w)
	if len(done) == 0 || v.add(done) {
		return d, err
	}
	// A move is reported by the lifecycle itself.
	aside := slices.ContainsFunc(done, func(r Result) bool { return r.Action.Do == SetAside })
	if aside && v.Notify != nil {
		if failed := v.Notify(ctx, Report{At: v.Now(), Results: done}); failed != nil {
			v.Log.Warn("set_aside_not_told", logkey.Error, failed) // the next start reports it
		}
	}
	return d, err
}

// decide is reconcile without the report. It handles one arrival at a time: two arrivals of the
// same conversation must not both move it.
func (v *Recovery) decide(ctx context.Context, w evidence.Writer) (d resume, done []Result, err error) {
	v.moving.Lock()
	defer v.moving.Unlock()
	f, err := v.facts(ctx, w)
	if err != nil {
		return d, nil, fmt.Errorf("find the session of conversation %s: %w", w.AgentSessionID, err)
	}
	if d = reconcileResume(f); d.From != uuid.Nil || len(d.Stale) > 0 {
		if err := v.backUp(ctx); err != nil {
			return d, nil, fmt.Errorf("conversation %s was not taken over, %w", w.AgentSessionID, err)
		}
		if d, done, err = v.change(ctx, f, d); err != nil {
			return d, done, err
		}
	}
	v.Log.Debug("resume_reconciled", logkey.Outcome, string(d.Outcome), logkey.Reason, d.Why, logkey.AgentSessionID, w.AgentSessionID.String(),
		logkey.PID, w.PID, logkey.SessionID, cmp.Or(d.From, f.Bound).String(), logkey.Stale, len(d.Stale), logkey.Owners, len(f.Owners))
	return d, done, v.note(ctx, d)
}

// change sets aside the stale sessions, and moves the chosen session.
func (v *Recovery) change(ctx context.Context, f resumeFacts, d resume) (_ resume, done []Result, err error) {
	done, err = v.setAside(ctx, f, d)
	if errors.Is(err, lifecycle.ErrBusy) {
		return stays(lockTimeout, f.Owners, err.Error()), done, nil
	}
	if err != nil || d.From == uuid.Nil {
		return d, done, err
	}
	started := v.Now()
	moved, err := v.move(ctx, f, d)
	if err == nil && moved.From != uuid.Nil {
		a := Action{Do: TakeOver, Record: d.From, Agent: f.Agent, AgentSessionID: f.AgentSessionID, Why: d.Why, Evidence: "process " + f.Agent.String() + " has it"}
		done = append(done, Result{Action: a, Took: v.Now().Sub(started)})
	}
	return moved, done, err
}

// setAside closes the sessions that are no longer meant. ErrBusy means that one of them was being
// worked on for too long.
func (v *Recovery) setAside(ctx context.Context, f resumeFacts, d resume) (done []Result, err error) {
	wait, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	for _, s := range d.Stale {
		setAside := v.Lifecycle.Close
		if s.Abandon {
			setAside = v.Lifecycle.Abandon
		}
		started := v.Now()
		why := s.Silence.String()
		if err := setAside(wait, s.ID, d.rule(), why, session.ClosedStale); err != nil {
			if late(ctx, wait) {
				err = lifecycle.ErrBusy
			}
			return done, fmt.Errorf("set session %s aside: %w", s.ID, err)
		}
		a := Action{Do: SetAside, Record: s.ID, Closed: session.ClosedStale, Silence: s.Silence, Why: why, Evidence: "process " + f.Agent.String() + " has its conversation"}
		a.log(v.Log)
		done = append(done, Result{Action: a, Took: v.Now().Sub(started)})
	}
	return done, nil
}

// late reports whether a wait has taken too long, and was not ended from outside.
func late(ctx, wait context.Context) bool { return wait.Err() != nil && ctx.Err() == nil }

// move lets a session continue in the process. If the lifecycle refuses, because it sees more or
// looks later, the refusal becomes a fact and the decision is made again.
func (v *Recovery) move(ctx context.Context, f resumeFacts, d resume) (resume, error) {
	target, err := v.Lifecycle.Adopt(ctx, lifecycle.AdoptRequest{Agent: f.Agent, AgentSessionID: f.AgentSessionID, From: d.From,
		Rule: d.rule(), Why: d.Why, Timeout: timeout})
	if err == nil {
		return d, v.watch(target.ID, nil)
	}
	var (
		writers *lifecycle.WriterError
		state   *lifecycle.StateError
	)
	switch {
	case errors.Is(err, lifecycle.ErrBusy):
		f.Busy = true
	case errors.Is(err, lifecycle.ErrChanged), errors.Is(err, lifecycle.ErrNoTerminal),
		errors.As(err, &writers), errors.As(err, &state):
		f.Objection = "the lifecycle refused it: " + err.Error()
	default:
		return d, fmt.Errorf("move session %s: %w", d.From, err)
	}
	return reconcileResume(f), nil
}

// note puts the outcome into the histories of the records that it concerns. If a record is being
// worked on for long, only the log has the outcome.
func (v *Recovery) note(ctx context.Context, d resume) error {
	var failed []error
	for _, id := range d.Records {
		wait, stop := context.WithTimeout(ctx, briefly)
		err := v.Lifecycle.Note(wait, id, d.rule(), d.Why)
		switch {
		case errors.Is(err, session.ErrNotFound):
		case err != nil && late(ctx, wait):
			v.Log.Info("resume_not_noted", logkey.SessionID, id.String(), logkey.Outcome, string(d.Outcome), logkey.Reason, d.Why)
		default:
			failed = append(failed, err)
		}
		stop()
	}
	return errors.Join(failed...)
}

// rule is the name of the decision in a history.
func (d resume) rule() session.Rule { return session.Rule("resume." + string(d.Outcome)) }

// facts collects the facts of the decision, and stops as soon as few facts decide.
func (v *Recovery) facts(ctx context.Context, w evidence.Writer) (resumeFacts, error) {
	f := resumeFacts{Now: v.Now(), StaleAfter: v.Limits.ResumeStale, Agent: w.Identity, AgentSessionID: w.AgentSessionID,
		Alive: v.Processes.Liveness(w.Identity)}
	if f.Alive != process.Alive {
		return f, nil
	}
	if bound, ok := v.boundTo(w.Identity); ok {
		f.Bound = bound.ID
		return f, nil
	}
	records := v.Store.Shared()
	owners := slices.DeleteFunc(slices.Clone(records), func(r session.Record) bool { return !isOwner(r, f.AgentSessionID) })
	if len(owners) == 0 {
		return f, nil
	}
	var err error
	if f.Nested, err = v.Evidence.RunsBelowAgent(ctx, f.Agent); err != nil {
		return f, err
	}
	survey, err := v.Evidence.Survey(ctx, owners)
	if err != nil {
		return f, err
	}
	for _, r := range owners {
		f.Owners = append(f.Owners, Owner{ID: r.ID, State: r.State, Agent: survey.Agents[r.ID], Sign: signOf(r)})
	}
	return f, v.factsOfWriters(ctx, &f, survey, records, owners)
}

// factsOfWriters distinguishes the process that came from others that write the same conversation.
func (v *Recovery) factsOfWriters(ctx context.Context, f *resumeFacts, survey evidence.Survey, records, owners []session.Record) error {
	var came evidence.Writer
	var reported []process.Identity
	others := make(map[process.Identity]bool)
	for _, r := range owners {
		reported = append(reported, r.SecondWriters...)
		for _, w := range survey.Writers[r.ID] {
			if w.Identity == f.Agent {
				came = w
			} else {
				others[w.Identity] = true
			}
		}
	}
	f.Others, f.Proven = len(others), byPresence(came)
	if f.Objection = objection(came, reported, false); f.Objection != "" {
		return nil
	}
	server, err := v.Tmux.Server(ctx)
	if err == nil && taken(records, server, v.Processes.Self().Boot, came.Pane.Window, owners...) {
		f.Objection = "its window is that of another session"
	}
	return err
}

// boundTo returns the open session that has the process as its agent.
func (v *Recovery) boundTo(agent process.Identity) (session.Record, bool) {
	records := v.Store.Shared()
	if i := slices.IndexFunc(records, func(r session.Record) bool { return r.State.Live() && r.Agent() == agent }); i >= 0 {
		return records[i], true
	}
	return session.Record{}, false
}
