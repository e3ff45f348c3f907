package hooks

import (
	"errors"
	"sync"
	"time"

	"ccbot/internal/hookwire"
	"ccbot/internal/pause"
)

// Errors of a Sink about an event that claims a conversation without proof. Such an event stays on
// disk and is delivered again when the presence file of its process changes, see PresenceChanged.
var (
	// ErrNotNamed is returned if no presence file of the process can be read. The event is rejected
	// after notNamedTimeout.
	ErrNotNamed = errors.New("no presence file names the conversation of this event")
	// ErrContradicted is returned if the presence file of the process names another conversation.
	// The event is rejected if that is still so after contradictedTimeout.
	ErrContradicted = errors.New("the presence file names another conversation than this event")
)

const (
	// contradictedTimeout is how long presence file and hooks may contradict each other: /clear and
	// /resume reach them one after the other.
	contradictedTimeout = 2 * time.Second
	// notNamedTimeout is far above the 0.1 s that pass between a SessionStart and the presence
	// file.
	notNamedTimeout = time.Minute
)

// kept is the history of an event that waits for the presence file of its process.
type kept struct {
	pid          int
	conversation string    // see conversationOf
	since        time.Time // of the first delivery
	// since when the presence file names another conversation; zero: it does not
	contradicted time.Time
}

// conversationOf returns what a kept event holds up: later events of the same conversation. It
// holds up no other event of its launch, because a forged event may name any launch.
func conversationOf(e hookwire.Event) string { return e.Launch + "/" + e.SessionID }

// due returns when the event is rejected.
func (k *kept) due() time.Time {
	due := k.since.Add(notNamedTimeout)
	if early := k.contradicted.Add(contradictedTimeout); !k.contradicted.IsZero() && early.Before(due) {
		return early
	}
	return due
}

// keepLocked keeps an event that its sink has returned with ErrNotNamed or ErrContradicted, and
// rejects it if it was kept for too long.
func (e *Events) keepLocked(name string, event hookwire.Event, cause error) error {
	k := e.kept[name]
	if k == nil {
		k = &kept{pid: event.AgentPID, conversation: conversationOf(event), since: e.now()}
		e.kept[name] = k
	}
	switch {
	case !errors.Is(cause, ErrContradicted):
		k.contradicted = time.Time{}
	case k.contradicted.IsZero():
		k.contradicted = e.now()
	}
	if e.now().Before(k.due()) {
		return nil
	}
	delete(e.kept, name) // also if the move fails: the file is then tried again with backoff
	return e.putAsideLocked(name, cause)
}

// presences notes the processes whose presence files have changed since the last pass.
type presences struct {
	mu      sync.Mutex
	changed map[int]bool
	wanted  bool // an event is kept
}

// PresenceChanged makes Run deliver the kept events of a process again.
func (e *Events) PresenceChanged(pid int) {
	e.presences.mu.Lock()
	defer e.presences.mu.Unlock()
	e.presences.changed[pid] = true
	if e.presences.wanted {
		pause.Poke(e.arrived)
	}
}

// take returns the processes that have changed and begins a new set.
func (p *presences) take() map[int]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := p.changed
	p.changed = make(map[int]bool)
	return changed
}

// keptDueLocked returns when the next kept event is delivered again; zero if none is kept. A
// presence file may have changed between a delivery and the end of its pass.
func (e *Events) keptDueLocked() (due time.Time) {
	e.presences.mu.Lock()
	defer e.presences.mu.Unlock()
	e.presences.wanted = len(e.kept) > 0
	for _, k := range e.kept {
		at := k.due()
		if e.presences.changed[k.pid] {
			at = e.now()
		}
		if due.IsZero() || at.Before(due) {
			due = at
		}
	}
	return due
}
