package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/lifecycle/outcome"
	"ccbot/port"
	"ccbot/port/refusal"
)

// Errors of the verbs.
var (
	ErrNotFound  = refusal.New(refusal.Changed, "there is no such loop")
	ErrNotLive   = refusal.New(refusal.Changed, "the loop has ended")
	ErrNotPaused = refusal.New(refusal.Changed, "the loop is not paused")
	ErrPreparing = refusal.New(refusal.Changed, "the worktree of the loop is being made")
	ErrNoSession = refusal.New(refusal.NoAgent, "the session is not open")
)

// HeldError means that another live loop has the session or the feature.
type HeldError struct{ By port.Loop }

// Error names the holder.
func (e *HeldError) Error() string {
	return fmt.Sprintf("the loop of %s (%s) has it: stop that one first", e.By.Name, e.By.ID)
}

// As makes it a refusal.
func (e *HeldError) As(target any) bool {
	return refusal.Error{Code: refusal.LoopHeld, Reason: e.By.Name, Err: e}.Into(target)
}

// Start begins a loop. With the key of an earlier call it returns the loop of that call.
func (k *Keeper) Start(ctx context.Context, q port.LoopRequest) (started port.Loop, err error) {
	if err := Valid(q); err != nil {
		return started, err
	}
	k.starting.Lock()
	defer k.starting.Unlock()
	if h := k.find(q.Key); h != nil {
		return h.copy().Loop, nil
	}
	r, known := k.Engine.Session(q.Session)
	if !known || !r.State.Open() {
		return started, ErrNoSession
	}
	now := k.Now().UTC()
	l := Loop{Version: Version, Loop: port.Loop{ID: q.Key, Session: q.Session, Name: r.Name, Feature: q.Feature, Task: q.Task, Check: q.Check, LoopTerms: q.LoopTerms, Phases: q.Phases, Phase: firstPhase(q.Phases), Template: q.Template, Bounds: q.Bounds, By: q.By,
		State: port.LoopRunning, Step: port.LoopAsk, Iteration: 1, Attempt: 1, CreatedAt: now, UpdatedAt: now}}
	repo, branch, commit := k.Engine.Place(ctx, r.Dir)
	l.Commit = commit
	if l.Repo = repo; repo == "" {
		l.Repo = r.Dir
	}
	switch {
	case q.Worktree && commit == "":
		return started, &refusal.Error{Code: noCommit(repo), Dir: r.Dir}
	case q.Worktree:
		l.Worktree = &port.LoopWorktree{From: r.ID}
	default:
		l.Feature = cmp.Or(l.Feature, branch)
		l.Baseline, l.Tree = k.Engine.Snapshot(ctx, l.Session), k.tree(r.Dir)
	}
	if err := holder(k.all(), l); err != nil {
		return started, err
	}
	if err := k.store.put(l); err != nil {
		return started, err
	}
	k.at("loop-saved")
	h := k.hold(l)
	h.running.Lock() // no step before its worktree is made
	defer h.running.Unlock()
	k.mu.Lock()
	k.loops[l.ID] = h
	k.mu.Unlock()
	err = k.prepare(ctx, h)
	if l = h.copy(); !l.State.Live() && l.preparing() {
		k.removeWorktree(ctx, h)
		if l = h.copy(); !l.hasWorktree() {
			err = errors.Join(err, k.remove(h))
		}
	}
	if err != nil {
		return started, err
	}
	k.Log.Info("loop_started", logkey.LoopID, l.ID.String(), logkey.SessionID, l.Session.String())
	pause.Poke(k.woken)
	return l.Loop, nil
}

// holder returns a HeldError if another live loop has the session, the feature or the work tree of a
// loop: a work tree may have another branch by now than when that loop began. The
// caller holds Keeper.starting.
func holder(all []*held, l Loop) error {
	for _, h := range all {
		by := h.copy()
		same := by.Repo == l.Repo && by.Feature == l.Feature
		if l.preparing() || by.preparing() { // its session is new, and without a name its feature, too
			same = same && l.Feature != ""
		} else {
			same = same || by.Session == l.Session
		}
		same = same || l.Tree != "" && by.Tree == l.Tree
		if same && by.ID != l.ID && by.State.Live() {
			return &HeldError{By: by.Loop}
		}
	}
	return nil
}

// Change carries out a person's decision.
func (k *Keeper) Change(ctx context.Context, c port.LoopChange) (port.Loop, error) {
	switch c.Do {
	case port.LoopPause:
		why := port.WhyPerson
		if c.Barred {
			why = port.WhyBarred
		}
		return k.Pause(ctx, c.Loop, why, "")
	case port.LoopResume:
		return k.resume(ctx, c.Loop, c.By, c.Barred)
	case port.LoopStop:
		return k.Stop(ctx, c.Loop)
	case port.LoopRaise:
		return k.raise(ctx, c)
	}
	return port.Loop{}, fmt.Errorf("unknown change %q of a loop", c.Do)
}

// find returns a loop, or nil.
func (k *Keeper) find(id uuid.UUID) *held {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.loops[id]
}

// change changes a loop on disk. If the loop is paused or stopped, its check ends.
func (k *Keeper) change(ctx context.Context, id uuid.UUID, do func(l *Loop) error) (port.Loop, error) {
	h := k.find(id)
	if h == nil {
		return port.Loop{}, ErrNotFound
	}
	defer pause.Poke(k.woken) // after the unlock: Run looks at what readers see
	defer pause.Poke(h.woken)
	h.mu.Lock()
	defer h.unlock()
	was := h.loop.Clone()
	if h.loop.State.Live() && h.loop.preparing() {
		return was.Loop, ErrPreparing
	}
	if err := do(&h.loop); err != nil {
		h.loop = was
		return was.Loop, err
	}
	h.loop.UpdatedAt = k.Now().UTC()
	if err := k.store.put(h.loop); err != nil {
		h.loop = was
		return was.Loop, err
	}
	h.again = time.Time{}
	l := h.loop.Clone()
	h.away = h.away && was.State.Moves() && l.State.Moves() // otherwise a person has looked at it
	if was.State.Moves() && !l.State.Moves() {
		if h.cut != nil {
			h.cut()
		}
	}
	if l.State != port.LoopRunning && l.State != was.State {
		k.settled(ctx, &l)
	}
	return l.Loop, nil
}

// ifLive makes a change that is refused if the loop has ended.
func ifLive(do func(l *Loop) error) func(l *Loop) error {
	return func(l *Loop) error {
		if !l.State.Live() {
			return ErrNotLive
		}
		return do(l)
	}
}

// Pause pauses a loop. The turn that runs is not interrupted. Pausing it twice is no error.
func (k *Keeper) Pause(ctx context.Context, id uuid.UUID, why port.LoopReason, detail string) (port.Loop, error) {
	return k.change(ctx, id, ifLive(func(l *Loop) error {
		if l.State != port.LoopPaused {
			l.apply(act{Do: doPause, Reason: why, Detail: detail}, k.Now())
		}
		return nil
	}))
}

// Resume continues a paused loop, which is a person's from then on.
func (k *Keeper) Resume(ctx context.Context, id uuid.UUID, by int64) (port.Loop, error) {
	return k.resume(ctx, id, by, false)
}

// resume is Resume, or leaves a loop alone that is not barred any more: a person has decided meanwhile.
func (k *Keeper) resume(ctx context.Context, id uuid.UUID, by int64, barred bool) (port.Loop, error) {
	return k.change(ctx, id, ifLive(func(l *Loop) error {
		if l.State != port.LoopPaused || barred && l.Reason != port.WhyBarred {
			return ErrNotPaused
		}
		if l.Repeats = 0; l.Step == port.LoopAsk {
			if err := k.findKept(ctx, l); err != nil {
				return err
			}
		}
		k.goOn(l, by)
		return nil
	}))
}

// Stop ends a loop. The turn that runs is not interrupted.
func (k *Keeper) Stop(ctx context.Context, id uuid.UUID) (port.Loop, error) {
	return k.change(ctx, id, ifLive(func(l *Loop) error {
		l.apply(act{Do: doEnd, State: port.LoopStopped, Reason: port.WhyPerson}, k.Now())
		return nil
	}))
}

// raise raises bounds. A loop that a bound has ended continues.
func (k *Keeper) raise(ctx context.Context, c port.LoopChange) (port.Loop, error) {
	id, more := c.Loop, c.More
	k.starting.Lock()
	defer k.starting.Unlock()
	var spent Spent
	var counted bool
	if h := k.find(id); h != nil {
		l := h.copy()
		err := holder(k.all(), l)
		if counted = l.State == port.LoopExhausted; err == nil && counted { // without h.mu, because it may take long
			spent, err = k.Engine.Spent(ctx, l.Session, l.CreatedAt)
		}
		if err != nil {
			return port.Loop{}, err
		}
	}
	return k.change(ctx, id, func(l *Loop) error {
		switch {
		case l.State.Live():
			l.addBounds(more, k.Now())
			return nil
		case l.State != port.LoopExhausted || !counted: // or it has ended just now
			return ErrNotLive
		}
		r, known := k.Engine.Session(l.Session)
		if !known || !r.State.Open() {
			return ErrNoSession
		}
		l.addBounds(more, k.Now())
		l.Counted = spent // the use since the end of the loop does not count
		switch l.Step {
		case port.LoopTurn: // it was interrupted
			l.again()
		case port.LoopAsk:
			if err := k.findKept(ctx, l); err != nil {
				return err
			}
		}
		k.goOn(l, c.By)
		return nil
	})
}

// goOn makes a loop move again. The prompts since its pause or its end are no reason for another
// pause.
func (k *Keeper) goOn(l *Loop, by int64) {
	l.By = by
	l.State, l.Reason, l.Detail, l.Reported, l.Begun = port.LoopRunning, "", "", port.LoopRunning, 0
	l.Resumed, l.Ran, l.Worked, l.Before = l.Step == port.LoopTurn, false, false, nil
	l.Device, l.Inode = 0, 0 // the person wants the folder that is there now
	if l.Step == port.LoopCheck {
		l.Typed = nil
	}
	k.Log.Info("loop_resumed", logkey.LoopID, l.ID.String(), logkey.SessionID, l.Session.String())
}

// isKept reports whether the present prompt of a loop was kept, and not taken back.
func isKept(ctx context.Context, e Engine, l *Loop) (bool, error) {
	r, _ := e.Session(l.Session)
	o, _, err := e.Outcome(ctx, r, l.Key(), nil)
	return err == nil && o.Kind != outcome.Withdrawn, err
}

// findKept finds out whether a crash came after the prompt of a loop was kept: its turn counts. If
// it was taken back since, or was never kept, another attempt begins.
func (k *Keeper) findKept(ctx context.Context, l *Loop) error {
	switch kept, err := isKept(ctx, k.Engine, l); {
	case err != nil:
		return err
	case kept:
		l.apply(act{Do: doKeep}, k.Now())
	default:
		l.again()
	}
	return nil
}

// Yield pauses the loop of a session before a person's own act. The act must not fail because the
// disk does: then the pause is only in memory, and a later save brings it to disk.
func (k *Keeper) Yield(ctx context.Context, session uuid.UUID, act string) {
	l, live := k.Live(session)
	if !live || !l.State.Moves() {
		return
	}
	if _, err := k.Pause(ctx, l.ID, port.WhyPersonActed, act); err != nil && !errors.Is(err, ErrNotLive) {
		k.Log.Error("loop_not_paused", logkey.LoopID, l.ID.String(), logkey.SessionID, session.String(), logkey.Error, err)
		k.pauseInMemory(ctx, l.ID, act)
	}
}

func (k *Keeper) pauseInMemory(ctx context.Context, id uuid.UUID, why string) {
	h := k.find(id)
	if h == nil { // it was forgotten
		return
	}
	defer pause.Poke(k.woken)
	defer pause.Poke(h.woken)
	h.mu.Lock()
	defer h.unlock()
	if !h.loop.State.Live() { // it ended during the count
		return
	}
	h.loop.apply(act{Do: doPause, Reason: port.WhyPersonActed, Detail: why}, k.Now())
	if h.cut != nil {
		h.cut()
	}
	h.unsaved = true
	k.settled(ctx, &h.loop)
}

// Open reads the loops of a folder. Nothing runs before Run.
func (k *Keeper) Open(dir, quarantine string) error {
	k.woken, k.loops = make(chan struct{}, 1), make(map[uuid.UUID]*held)
	all, err := k.store.open(dir, quarantine, k.Log)
	if err != nil {
		return fmt.Errorf("open the loops: %w", err)
	}
	for _, l := range all {
		h := k.hold(l)
		h.away = k.Stale > 0 && k.Away > k.Stale && l.State.Moves()
		k.loops[l.ID] = h
	}
	return nil
}

// Settle settles what an earlier ccbot has left, before anything is scheduled: the processes of
// checks that were cut off are ended, prompts of loops that do not move are taken back, and loops
// whose session is gone are paused or ended. Loops that moved before a long absence are paused. It may be called again.
func (k *Keeper) Settle(ctx context.Context) {
	for _, h := range k.all() {
		err := k.checkOf(h).end(ctx)
		h.mu.Lock()
		err = errors.Join(err, h.loop.withdraw(ctx, k.Engine))
		r, known := k.Engine.Session(h.loop.Session)
		a := h.atStart(sessionOf(r, known), k.Now())
		if err == nil && !k.Engine.Unread(h.loop.Session) && a.Do != doNothing {
			if a.Do == doEnd { // for good: the record that says so may be brought back
				err = put(k.Copies, h.loop, copySuffix)
			}
			if err == nil {
				err = k.carryOut(ctx, h, a)
			}
		}
		h.unlock()
		if err != nil {
			h.warn(k.Log, err)
		}
	}
}
