package wire

import (
	"context"
	"slices"
	"sync"

	"github.com/google/uuid"

	"ccbot/port"
)

// mirror reads the sessions of another machine. It keeps what it has read: the sessions of an
// unreachable machine are as they were, not gone.
type mirror struct {
	*Client
	mu    sync.Mutex
	known []port.Session // oldest first
}

// Get returns a session. Of an unreachable machine one that was never read, or that ran, has
// StateUnknown.
func (m *mirror) Get(id uuid.UUID) (port.Session, bool) {
	if id == uuid.Nil || id == uuid.Max { // the chat's ids of no session
		return port.Session{}, false
	}
	var now port.Session
	var ok bool
	err := m.call(m.Context, "Views.Get", id, args{"id": id}, &now, &ok)
	if ok && now.ID != id {
		err = errBounds
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.known, func(s port.Session) bool { return s.ID == id })
	switch {
	case err != nil && i < 0:
		return port.Session{ID: id, Name: id.String()[:8], State: port.StateUnknown}, true
	case err != nil:
		now = m.known[i]
		if now.State.Live() {
			now.State = port.StateUnknown
		}
		return now, true
	case ok && i < 0:
		m.known = append(m.known, now)
	case ok:
		m.known[i] = now
	case i >= 0:
		m.known = slices.Delete(m.known, i, i+1)
	}
	return now, ok
}

// List returns all sessions, oldest first. Of an unreachable machine it returns those that were
// read.
func (m *mirror) List() ([]port.Session, error) {
	var all []port.Session
	err := m.call(m.Context, "Views.List", uuid.Nil, nil, &all)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		m.known = all
	}
	return slices.Clone(m.known), err
}

// History returns the changes of a session, oldest first.
func (m *mirror) History(ctx context.Context, id uuid.UUID) (all []port.Change, err error) {
	err = m.call(ctx, "Views.History", id, args{"id": id}, &all)
	return all, err
}
