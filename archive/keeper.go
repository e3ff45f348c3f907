package archive

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/refusal"
)

// Sessions is the part of package lifecycle that a Keeper uses.
type Sessions interface {
	// ArchiveQuiet archives a session. lifecycle.ErrChanged: something has happened since, or the
	// session is not quiet, or that is unknown, or it stays for schedules of its own, which people hear of.
	ArchiveQuiet(ctx context.Context, id uuid.UUID, q port.Silence) error
}

// Observer looks at sessions.
type Observer interface {
	// Inspector reports what sessions are doing. It is read-only.
	Inspector(ctx context.Context) func(session.Record) view.Status
}

// Copies are the copies of records, as recovery.Backups keeps them.
type Copies interface {
	// Keep copies a record that is about to be removed because of its age. The record can be
	// brought back until Expire removes the copy.
	Keep(id uuid.UUID) error
	Expire() error
	// Erase removes all copies of a record.
	Erase(ctx context.Context, id uuid.UUID) error
}

// Keeper archives quiet sessions and purges old records.
type Keeper struct {
	Agents   agent.Agents
	Sessions Sessions
	Observer Observer
	Records  *session.Store
	Copies   Copies
	Liveness func(process.Identity) process.Liveness
	// Clear reports to the person the prompts that still wait for a session, and then removes
	// everything else that belongs to it. The record is removed after that; after a crash in
	// between, Clear is called again.
	Clear func(ctx context.Context, r session.Record) error

	// IdleAfter is how long a session is quiet before it is archived, unless its record has another
	// time; 0: it never is.
	IdleAfter time.Duration
	// Busy reports whether a session is not archived now, however quiet it is. It may be nil.
	Busy       func(session uuid.UUID) bool
	PurgeAfter time.Duration // the time from a session's end until its record is removed; 0: never
	// Purged is called for each record that was removed, with its age since the session's end. It
	// may be nil.
	Purged func(state session.State, age time.Duration)

	Now func() time.Time // the wall clock, for the age of records
	Log *slog.Logger

	// Woken makes Run compare its interval with the limits again: a session has started, or a limit
	// has changed, and the interval may be too long for it. It may be nil.
	Woken <-chan struct{}
}

// Run looks at once, at each interval and when a shorter one is due, until ctx ends.
func (k *Keeper) Run(ctx context.Context) error {
	started := time.Now()
	clock := func() time.Duration { return time.Since(started) } // monotonic
	var idle Idle
	for {
		var every time.Duration
		idle, every = k.sweep(ctx, idle, clock)
		k.Purge(ctx)
		for next := time.Now().Add(every); pause.Until(ctx, time.Until(next), k.Woken) && k.every() >= every; {
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// every returns the time between two sweeps: short enough for each session that may be archived,
// and for PurgeAfter. A session counts while it is launched, because it is reported as ready before
// its state is saved.
func (k *Keeper) every() time.Duration {
	every := longest
	if k.PurgeAfter > 0 {
		every = interval(k.PurgeAfter)
	}
	for _, r := range k.Records.Shared() {
		if after := k.after(r); (r.State == session.Running || r.State.Launching()) && after > 0 {
			every = min(every, interval(after))
		}
	}
	return every
}

// after returns how long a session is quiet before it is archived; 0: it never is.
func (k *Keeper) after(r session.Record) time.Duration {
	switch {
	case k.Busy != nil && k.Busy(r.ID):
		return 0
	case r.IdleAfter != nil:
		return *r.IdleAfter
	}
	return k.IdleAfter
}

// sweep checks every running session that may be archived, archives those that are due, and returns
// the time until the next sweep.
func (k *Keeper) sweep(ctx context.Context, idle Idle, clock func() time.Duration) (Idle, time.Duration) {
	var seen []Seen
	every, lookAt := k.every(), k.Observer.Inspector(ctx)
	for _, r := range k.Records.Shared() {
		after := k.after(r)
		if r.State != session.Running || after <= 0 {
			continue
		}
		s := Seen{Record: r, At: clock(), After: after}
		err := contain(func() error { s.Status = lookAt(r); return nil })
		if err != nil {
			k.Log.Error("idle_look_failed", logkey.SessionID, r.ID.String(), logkey.Error, err)
		}
		seen = append(seen, s) // without a successful look the session does not count as quiet
	}
	idle, due := idle.Sweep(every, seen)
	for _, d := range due {
		k.archive(ctx, d)
	}
	return idle, every
}

func (k *Keeper) archive(ctx context.Context, d Due) {
	if ctx.Err() != nil {
		return
	}
	err := contain(func() error {
		why := "nothing has happened for " + d.Quiet.Round(time.Second).String()
		return k.Sessions.ArchiveQuiet(ctx, d.Session, port.Silence{Since: d.Since, Quiet: d.Quiet, Cause: port.Cause{Why: why}})
	})
	switch {
	case errors.Is(err, lifecycle.ErrChanged):
	case err != nil && ctx.Err() == nil:
		k.Log.Warn("idle_archive_failed", logkey.SessionID, d.Session.String(), logkey.Error, err)
	case err == nil:
		k.Log.Info("idle_archived", logkey.SessionID, d.Session.String(), logkey.Quiet, d.Quiet)
	}
}

// Purge removes the records that are due, and the expired copies. It returns the removed records.
func (k *Keeper) Purge(ctx context.Context) (gone []DueRecord) {
	if err := k.Copies.Expire(); err != nil {
		k.Log.Warn("purged_records_not_removed", logkey.Error, err)
	}
	for _, old := range Leaving(k.Now(), k.PurgeAfter, k.Agents, k.Records.Shared()) {
		if ctx.Err() != nil {
			return gone
		}
		purged := false
		err := contain(func() (err error) {
			purged, err = k.Records.Purge(ctx, old.ID, func(r session.Record) (bool, error) { return k.letGo(ctx, r) })
			return err
		})
		switch {
		case errors.Is(err, session.ErrNotFound): // another Purge has just removed it
		case err != nil && ctx.Err() == nil:
			k.Log.Warn("purge_failed", logkey.SessionID, old.ID.String(), logkey.Error, err)
		case purged:
			age := k.Now().Sub(old.Ended)
			k.Log.Info("session_purged", logkey.SessionID, old.ID.String(), logkey.State, string(old.State), logkey.Age, age)
			if k.Purged != nil {
				k.Purged(old.State, age)
			}
			gone = append(gone, old)
		}
	}
	return gone
}

// letGo decides on the record's worker whether the record is removed: the session may have come
// back since the scan.
func (k *Keeper) letGo(ctx context.Context, r session.Record) (bool, error) {
	if !leaves(k.Now(), k.PurgeAfter, k.Agents, r) {
		return false, nil
	}
	if err := k.Copies.Keep(r.ID); err != nil {
		return false, err
	}
	if err := k.Clear(ctx, r); err != nil {
		return false, fmt.Errorf("clear what belongs to it: %w", err)
	}
	return true, nil
}

// MayForget reports whether a person may have a record forgotten: the session has ended, or its
// cleanup failed and each process that the record knows is proven gone, so that nothing is left which
// a later try could end. How long ago that was proves nothing.
func MayForget(r session.Record, liveness func(process.Identity) process.Liveness) bool {
	if r.State != session.CleanupFailed {
		return r.State.HasEnded()
	}
	if c := r.Cleanup; c != nil && slices.ContainsFunc(c.Failures, func(f session.CleanupFailure) bool { return f.PID == 0 }) {
		return false // what could not be seen may be a process that the record does not know
	}
	all := r.Processes()
	return len(all) > 0 && !slices.ContainsFunc(all, func(id process.Identity) bool { return liveness(id) != process.Gone })
}

// ErrNotEnded is returned for a session of which MayForget is false: its record is not forgotten.
var ErrNotEnded = refusal.New(refusal.WrongState, "the session is not over")

// Forget removes a record and every copy of it, because a person has asked for it. The copies go
// first, so that calling Forget again finishes what a crash has interrupted. A record that is no
// longer there may still have copies. No backup may be made at the same time.
func (k *Keeper) Forget(ctx context.Context, id uuid.UUID) error {
	_, err := k.Records.Purge(ctx, id, func(r session.Record) (bool, error) {
		if !MayForget(r, k.Liveness) {
			return false, ErrNotEnded
		}
		if err := k.Copies.Erase(ctx, id); err != nil {
			return false, err
		}
		return true, k.Clear(ctx, r)
	})
	if errors.Is(err, session.ErrNotFound) {
		return k.Copies.Erase(ctx, id)
	}
	if err != nil {
		return fmt.Errorf("forget session %s: %w", id, err)
	}
	k.Log.Info("session_forgotten", logkey.SessionID, id.String())
	return nil
}

// contain turns a panic in fn into an error, so that it concerns only one session.
func contain(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return fn()
}
