package loop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/logkey"
	"ccbot/internal/pause"
)

// Start begins a loop. With the key of an earlier call it returns the loop of that call.
func (k *Keeper) Start(ctx context.Context, q Request) (Loop, error) {
	if err := q.Valid(); err != nil {
		return Loop{}, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if h, is := k.loops[q.Key]; is {
		return h.copy(), nil
	}
	r, known := k.Engine.Session(q.Session)
	if !known || !r.State.Open() {
		return Loop{}, ErrNoSession
	}
	now := k.Now().UTC()
	l := Loop{Version: Version, ID: q.Key, Session: q.Session, Name: r.Name, Feature: q.Feature, Task: q.Task, Check: q.Check, Bounds: q.Bounds,
		State: Running, Phase: Ask, Iteration: 1, Attempt: 1, CreatedAt: now, UpdatedAt: now}
	repo, branch := k.Engine.Place(ctx, r.Dir)
	if l.Repo = repo; repo == "" {
		l.Repo = r.Dir
	}
	if l.Feature == "" {
		l.Feature = branch
	}
	for _, h := range k.loops {
		if by := h.copy(); by.State.Live() && (by.Session == l.Session || by.Repo == l.Repo && by.Feature == l.Feature) {
			return Loop{}, &HeldError{By: by}
		}
	}
	if err := k.save(&l); err != nil {
		return Loop{}, err
	}
	k.at("loop-saved")
	k.loops[l.ID] = hold(l)
	k.Log.Info("loop_started", logkey.LoopID, l.ID.String(), logkey.SessionID, l.Session.String())
	pause.Poke(k.woken)
	return l.Clone(), nil
}

// change changes a live loop on disk. If the loop is paused or stopped, its check ends.
func (k *Keeper) change(ctx context.Context, id uuid.UUID, do func(l *Loop) error) (Loop, error) {
	k.mu.Lock()
	h, is := k.loops[id]
	k.mu.Unlock()
	if !is {
		return Loop{}, ErrNotFound
	}
	h.mu.Lock()
	defer h.unlock()
	was := h.loop.Clone()
	if !was.State.Live() {
		return was, ErrNotLive
	}
	if err := do(&h.loop); err != nil {
		h.loop = was
		return was, err
	}
	h.loop.UpdatedAt = k.Now().UTC()
	if err := k.save(&h.loop); err != nil {
		h.loop = was
		return was, err
	}
	h.again = time.Time{}
	l := h.loop.Clone()
	if was.State.Moves() && !l.State.Moves() {
		if h.cut != nil {
			h.cut()
		}
	}
	if l.State != Running && l.State != was.State {
		k.settled(ctx, &l)
	}
	pause.Poke(k.woken)
	return l, nil
}

// Pause pauses a loop. The turn that runs is not interrupted. Pausing it twice is no error.
func (k *Keeper) Pause(ctx context.Context, id uuid.UUID, why Reason, detail string) (Loop, error) {
	return k.change(ctx, id, func(l *Loop) error {
		if l.State != Paused {
			l.apply(act{Do: doPause, Reason: why, Detail: detail}, k.Now())
		}
		return nil
	})
}

// Resume continues a paused loop.
func (k *Keeper) Resume(ctx context.Context, id uuid.UUID) (Loop, error) {
	return k.change(ctx, id, func(l *Loop) error {
		if l.State != Paused {
			return ErrNotPaused
		}
		l.State, l.Reason, l.Detail, l.Reported, l.Repeats, l.Begun = Running, "", "", Running, 0, 0
		l.Resumed, l.Ran, l.Before = l.Phase == Turn, false, nil // what a person did meanwhile is no reason for a pause
		k.Log.Info("loop_resumed", logkey.LoopID, l.ID.String(), logkey.SessionID, l.Session.String())
		return nil
	})
}

// Stop ends a loop. The turn that runs is not interrupted.
func (k *Keeper) Stop(ctx context.Context, id uuid.UUID) (Loop, error) {
	return k.change(ctx, id, func(l *Loop) error {
		l.apply(act{Do: doEnd, State: Stopped, Reason: ByPerson}, k.Now())
		return nil
	})
}

// Yield pauses the loop of a session before a person's own act. The act must not fail because the
// disk does: then the pause is only in memory, and a later save brings it to disk.
func (k *Keeper) Yield(ctx context.Context, session uuid.UUID, act string) {
	l, live := k.Live(session)
	if !live || !l.State.Moves() {
		return
	}
	if _, err := k.Pause(ctx, l.ID, PersonActed, act); err != nil && !errors.Is(err, ErrNotLive) {
		k.Log.Error("loop_not_paused", logkey.LoopID, l.ID.String(), logkey.SessionID, session.String(), logkey.Error, err)
		k.pauseInMemory(l.ID, act)
	}
}

func (k *Keeper) pauseInMemory(id uuid.UUID, why string) {
	k.mu.Lock()
	h := k.loops[id]
	k.mu.Unlock()
	h.mu.Lock()
	defer h.unlock()
	h.loop.apply(act{Do: doPause, Reason: PersonActed, Detail: why}, k.Now())
	if h.cut != nil {
		h.cut()
	}
	h.unsaved = true
	pause.Poke(k.woken)
}

// Open reads the loops of a folder. Nothing runs before Run.
func (k *Keeper) Open(dir, quarantine string) error {
	k.woken, k.loops = make(chan struct{}, 1), make(map[uuid.UUID]*held)
	all, err := k.store.open(dir, quarantine, k.Log)
	if err != nil {
		return fmt.Errorf("open the loops: %w", err)
	}
	for _, l := range all {
		k.loops[l.ID] = hold(l)
	}
	return nil
}

// Settle settles what an earlier ccbot has left, before anything is scheduled: the processes of
// checks that were cut off are ended, and loops whose session is gone are paused or ended. It may
// be called again.
func (k *Keeper) Settle(ctx context.Context) {
	for _, h := range k.all() {
		err := k.endProcesses(ctx, h, func() {})
		h.mu.Lock()
		r, known := k.Engine.Session(h.loop.Session)
		if a := orphan(h.loop, sessionOf(r, known), k.Now()); err == nil && a.Do != doNothing {
			err = k.carryOut(ctx, h, a)
		}
		h.unlock()
		if err != nil {
			k.warn(h, err)
		}
	}
}
