package lifecycle

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/pause"
	"ccbot/internal/process"
)

// agenda holds what a Service has to do next. Run does it.
type agenda struct {
	wakes chan struct{} // one slot: a value says that something is pending

	mu      sync.Mutex
	pending map[uuid.UUID]bool // sessions to step
	busy    map[uuid.UUID]bool // sessions in a step
	timers  map[uuid.UUID]*time.Timer
	watched map[process.Identity]bool
	waits   []watch                     // agents that Run has to start watching
	held    map[uuid.UUID]chan struct{} // one slot for each conversation, see holdConversation

	foreign batch[int]       // pids of foreign processes whose presence file changed
	gits    batch[uuid.UUID] // sessions whose repository is read, not on their workers: in a large tree that takes seconds
}

// watch names the session to wake when an agent ends.
type watch struct {
	session uuid.UUID
	agent   process.Identity
}

// batch is a set of things to check together. Requests during a check wait for the next one.
type batch[K comparable] struct {
	wanted  map[K]bool
	running bool
}

func newAgenda() *agenda {
	return &agenda{wakes: make(chan struct{}, 1), pending: make(map[uuid.UUID]bool), busy: make(map[uuid.UUID]bool),
		timers: make(map[uuid.UUID]*time.Timer), watched: make(map[process.Identity]bool), held: make(map[uuid.UUID]chan struct{}),
		foreign: batch[int]{wanted: make(map[int]bool)}, gits: batch[uuid.UUID]{wanted: make(map[uuid.UUID]bool)}}
}

// note changes the agenda under its lock, and wakes Run.
func (a *agenda) note(change func()) {
	a.mu.Lock()
	change()
	a.mu.Unlock()
	pause.Poke(a.wakes)
}

// wake asks for a step of a session: something about it may have changed.
func (a *agenda) wake(id uuid.UUID) { a.note(func() { a.pending[id] = true }) }

// checkProcess asks to check whether a process has entered a conversation that belongs to a
// session.
func (a *agenda) checkProcess(pid int) { a.note(func() { a.foreign.wanted[pid] = true }) }

// watch asks to watch an agent. If the agent is watched already, it does nothing.
func (a *agenda) watch(w watch) {
	a.note(func() {
		if !a.watched[w.agent] {
			a.watched[w.agent] = true
			a.waits = append(a.waits, w)
		}
	})
}

// take removes and returns due work: sessions without a running step, agents to watch, and the
// things to check unless such a check is running.
func (a *agenda) take() (steps []uuid.UUID, watches []watch, foreign []int, gits []uuid.UUID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id := range a.pending {
		if !a.busy[id] {
			delete(a.pending, id)
			a.busy[id] = true
			steps = append(steps, id)
		}
	}
	watches, a.waits = a.waits, nil
	return steps, watches, a.foreign.take(), a.gits.take()
}

func (b *batch[K]) take() []K {
	if b.running || len(b.wanted) == 0 {
		return nil
	}
	b.running = true
	defer clear(b.wanted)
	return slices.Collect(maps.Keys(b.wanted))
}

// stepped notes that a step has ended. The next step comes after again; with 0 it comes when
// something asks for it.
func (a *agenda) stepped(id uuid.UUID, again time.Duration) {
	a.note(func() {
		delete(a.busy, id)
		if t := a.timers[id]; t != nil {
			t.Stop()
			delete(a.timers, id)
		}
		if again > 0 {
			a.timers[id] = time.AfterFunc(again, func() { a.wake(id) })
		}
	})
}

func (a *agenda) stopTimers() {
	a.note(func() {
		for _, t := range a.timers {
			t.Stop()
		}
	})
}

// holdConversation lets only one caller at a time work on a conversation, from the search for its
// writers until its new agent is bound: two records may have the same conversation.
func (a *agenda) holdConversation(ctx context.Context, conversation uuid.UUID) (release func(), err error) {
	a.mu.Lock()
	slot, ok := a.held[conversation]
	if !ok {
		slot = make(chan struct{}, 1)
		a.held[conversation] = slot
	}
	a.mu.Unlock()
	select {
	case slot <- struct{}{}:
		return func() { <-slot }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for conversation %s: %w", conversation, ctx.Err())
	}
}
