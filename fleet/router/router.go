package router

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/machine"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/news"
	"ccbot/port/refusal"
)

// ErrNameTaken is returned for a machine with the name or the id of another one.
var ErrNameTaken = errors.New("another machine has the name or the id")

// Router passes the calls of the chat on to their machines.
type Router struct {
	// OnChange is called with a machine that answers, or no longer, or was removed. It may be nil, and is set before
	// the first Add.
	OnChange func(id string)

	own *host

	mu     sync.RWMutex
	others []*host // by the time of Add
}

// New returns a router with the chat's own machine; name is for people.
func New(name string, own *machine.Machine) *Router {
	return &Router{own: &host{Machine: own, name: name}}
}

// Add adds another machine. id is made of lower-case letters and digits and stays the same; name is
// for people. Names differ in more than case.
func (r *Router) Add(id, name string, m *machine.Machine) error {
	if !folders.IsMachineID(id) || name == "" || strings.ContainsAny(name, ":/") {
		return fmt.Errorf("%q is no name of a machine, or %q no id", name, id)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.ContainsFunc(append(r.others, r.own), func(h *host) bool { return h.id == id || strings.EqualFold(h.name, name) }) {
		return fmt.Errorf("machine %s %q: %w", id, name, ErrNameTaken)
	}
	h := &host{id: id, name: name, isForeign: r.isForeign(id), onChange: r.OnChange, reported: true, pace: newPace()}
	own := *m
	if own.Transcripts != nil {
		own.Transcripts = paced{own.Transcripts, h.pace}
	}
	h.Machine = &own
	r.others = append(slices.Clip(r.others), h)
	h.probe()
	return nil
}

// Remove removes another machine. Its sessions are then unknown to the chat.
func (r *Router) Remove(id string) {
	r.mu.Lock()
	r.others = slices.DeleteFunc(slices.Clone(r.others), func(h *host) bool { return h.id == id })
	r.mu.Unlock()
	if r.OnChange != nil {
		r.OnChange(id)
	}
}

// Note notes a change of the link to another machine, and reads its sessions in the background.
// heard is the time of the last contact.
func (r *Router) Note(id string, away bool, heard time.Time) {
	if h, ok := r.byID(id); ok && id != "" {
		h.mu.Lock()
		if h.lost != away {
			h.reported = !away // so that report calls onChange
		}
		h.lost, h.heard = away, heard
		h.mu.Unlock()
		h.report()
		h.changed.Store(true)
		h.probe()
	}
}

// Machines returns the machines: the chat's own, then the others in the order of Add.
func (r *Router) Machines() (all []machine.Info) {
	for _, h := range r.hosts() {
		m := machine.Info{ID: h.id, Name: h.name, Away: h.id != "" && h.away() != nil}
		if m.Away {
			m.Lost, m.Heard = h.link()
		}
		all = append(all, m)
	}
	return all
}

// Chat takes the news about sessions.
type Chat interface {
	SessionNews(ctx context.Context, s port.Session, n news.News) error
}

// Chat returns the chat as another machine reports news to it.
func (r *Router) Chat(id string, to Chat) Chat { return reporter{r, id, to} }

type reporter struct {
	router *Router
	id     string
	to     Chat
}

// SessionNews passes news on with addresses, but not those about a session of another machine. The
// sessions that a start has left, or that a report of a prompt names, are read before.
func (c reporter) SessionNews(ctx context.Context, s port.Session, n news.News) error {
	h, ok := c.router.byID(c.id)
	if !ok {
		return noMachine(c.id)
	}
	if h.isForeign(s.ID) {
		return nil
	}
	if err := h.awaitPace(ctx, n); err != nil {
		return err
	}
	n = up(h, n)
	switch p := n.(type) {
	case news.Start:
		if err := h.readAll(); err != nil {
			return h.upError(err)
		}
	case news.Progress: // without a session
		if h.isForeign(p.Session) {
			return nil
		}
		if _, known := h.kept(p.Session); !known && p.Session != uuid.Nil {
			if err := h.readAll(); err != nil {
				return h.upError(err)
			}
		}
		p.Machine = h.id
		n = p
	}
	err := c.to.SessionNews(ctx, up(h, s), n)
	if _, is := n.(news.Forgotten); is && err == nil {
		h.forget(s.ID)
	}
	return err
}

func (r *Router) hosts() []*host {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return append([]*host{r.own}, r.others...)
}

// single reports whether the chat has its own machine only.
func (r *Router) single() bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.others) == 0
}

func (r *Router) byID(id string) (*host, bool) {
	if id == "" {
		return r.own, true
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, h := range r.others {
		if h.id == id {
			return h, true
		}
	}
	return nil, false
}

func noMachine(id string) error {
	return refusal.New(refusal.NoMachine, "the chat has no machine "+id)
}

// of returns the machine of a session. The chat's own machine refuses an unknown session.
func (r *Router) of(session uuid.UUID) (*host, error) {
	if r.single() {
		return r.own, nil
	}
	unread := r.unread() // first: a machine may answer during the lookup
	if h, ok := r.has(session); ok {
		return h, nil
	}
	if _, ok := r.own.Records.Get(session); !ok && unread != nil {
		return nil, unread.unreachable()
	}
	return r.own, nil
}

// has returns the other machine that has a session.
func (r *Router) has(session uuid.UUID) (*host, bool) {
	for _, h := range r.hosts()[1:] {
		if _, ok := h.kept(session); ok {
			return h, true
		}
	}
	return nil, false
}

// isForeign reports whether another machine than the one with this id has a session.
func (r *Router) isForeign(id string) func(session uuid.UUID) bool {
	return func(session uuid.UUID) bool {
		if h, ok := r.has(session); ok {
			return h.id != id
		}
		_, ok := r.own.Records.Get(session)
		return ok
	}
}

// unread returns a machine that has never answered, or nil.
func (r *Router) unread() *host {
	for _, h := range r.hosts()[1:] {
		if !h.wasRead() {
			return h
		}
	}
	return nil
}

// at returns the machine that values name.
func (r *Router) at(values ...any) (*host, error) {
	if r.single() {
		if id, _ := machineIn(values...); id == "" {
			return r.own, nil
		}
	}
	id, err := machineIn(values...)
	if err != nil {
		return nil, err
	}
	h, ok := r.byID(id)
	if !ok {
		return nil, noMachine(id)
	}
	return h, nil
}

// about returns the machine of a call about a session with other values, which name no other
// machine.
func (r *Router) about(session uuid.UUID, values ...any) (*host, error) {
	h, err := r.of(session)
	if err != nil {
		return nil, err
	}
	id, err := machineIn(values...)
	if err == nil && id != "" && id != h.id {
		err = refusal.New(refusal.NoMachine, "the session is on another machine than "+id)
	}
	return h, err
}
