package chattest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"

	"github.com/google/uuid"

	"ccbot/agent/claude/claudeask"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/hooks"
	"ccbot/internal/session"
	"ccbot/port/talk"
)

// OpenChats opens the chats of a folder; unreadable files go to the folder next to it.
func OpenChats(dir string) (*conversation.Store, error) {
	return conversation.Open(dir, filepath.Join(filepath.Dir(dir), "quarantine"), slog.New(slog.DiscardHandler))
}

type fakeRecords struct {
	mu  sync.Mutex
	all map[uuid.UUID]session.Record
}

func (f *fakeRecords) Put(r session.Record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all[r.ID] = r.Clone()
}

func (f *fakeRecords) Forget(id uuid.UUID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.all, id)
}

func (f *fakeRecords) Change(id uuid.UUID, change func(*session.Record)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.all[id].Clone()
	change(&r)
	f.all[id] = r
}

func (f *fakeRecords) Get(id uuid.UUID) (session.Record, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, ok := f.all[id]
	return r.Clone(), ok
}

func (f *fakeRecords) Whole(id uuid.UUID) (session.Record, error) {
	r, ok := f.Get(id)
	if !ok {
		return r, session.ErrNotFound
	}
	return r, nil
}

func (f *fakeRecords) Shared() []session.Record { return f.List() }

func (f *fakeRecords) List() []session.Record {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []session.Record
	for _, r := range f.all {
		list = append(list, r.Clone())
	}
	slices.SortFunc(list, func(a, b session.Record) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return list
}

// log has the calls of a fake, a line each.
type log struct {
	Mu    sync.Mutex
	lines []string
}

func (l *log) Add(format string, args ...any) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

func (l *log) Done() []string {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	return slices.Clone(l.lines)
}

// fakeRelay has the hooks that a test lets wait. A decision or a leave ends the wait.
type fakeRelay struct {
	*gate
	log
	waiting map[string]hooks.Request
	decide  func() error // comes before a decision is taken; may be nil
}

// Decides sets a function that runs before a decision is taken; nil: none.
func (f *fakeRelay) Decides(do func() error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.decide = do
}

func (f *fakeRelay) end(id string) bool {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	_, ok := f.waiting[id]
	delete(f.waiting, id)
	return ok
}

func (f *fakeRelay) Decide(_ context.Context, id string, a talk.Answer) error {
	f.wait()
	f.Mu.Lock()
	decide, q := f.decide, f.waiting[id]
	f.Mu.Unlock()
	if decide != nil {
		if err := decide(); err != nil {
			return err
		}
	}
	if q.ID == "" {
		return hooks.ErrNotWaiting
	}
	d, err := claudeask.Decide(q, a)
	if err != nil {
		return err
	}
	if !f.end(id) {
		return hooks.ErrNotWaiting
	}
	what := d.Behavior
	if d.Interrupt {
		what += " and stop:"
	}
	f.Add("%s %s", what, d.Message)
	return nil
}

func (f *fakeRelay) Leave(_ context.Context, id string) {
	f.wait()
	if f.end(id) {
		f.Add("leave")
	}
}

func (f *fakeRelay) Waiting(_ context.Context, id uuid.UUID) []hooks.Request {
	f.wait()
	f.Mu.Lock()
	defer f.Mu.Unlock()
	var all []hooks.Request
	for _, q := range f.waiting {
		if q.Session == id {
			all = append(all, q)
		}
	}
	return all
}

// fakeEntries is a real inbox whose writes a test may refuse.
type fakeEntries struct {
	*inbox.Store
	OnSave   func(e inbox.Entry) error
	OnFinish func(key string) error
}

func (f *fakeEntries) Save(e inbox.Entry) error {
	if f.OnSave != nil {
		if err := f.OnSave(e); err != nil {
			return err
		}
	}
	return f.Store.Save(e)
}

func (f *fakeEntries) Finish(key string) error {
	if f.OnFinish != nil {
		if err := f.OnFinish(key); err != nil {
			return err
		}
	}
	return f.Store.Finish(key)
}

func (f *fakeEntries) FinishIn(key string, state inbox.State) error {
	if f.OnFinish != nil {
		if err := f.OnFinish(key); err != nil {
			return err
		}
	}
	return f.Store.FinishIn(key, state)
}

func (f *fakeEntries) Change(key string, change func(e *inbox.Entry) error) error {
	return f.Store.Change(key, func(e *inbox.Entry) error {
		err := change(e)
		if f.OnSave != nil && (err == nil || errors.Is(err, inbox.ErrDraft)) {
			err = cmp.Or(f.OnSave(*e), err)
		}
		return err
	})
}
