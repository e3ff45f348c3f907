package lifecycle

import (
	"context"
	"path/filepath"
	"slices"
	"sync"

	"github.com/google/uuid"

	"ccbot/bot/port/news"
	"ccbot/internal/naming"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

// records are all records, and what is known only from more than one of them.
type records struct {
	*session.Store
	o     *Observer
	names sync.Mutex // held from the choice of a name until a record on disk has it
}

// createNamed puts a new record on disk, with a number behind its name where that is taken.
func (a *records) createNamed(r session.Record) error {
	a.names.Lock()
	defer a.names.Unlock()
	r.Name = a.freeName(r.Name, r.ID)
	return a.Store.Create(r)
}

// freeName returns a name, with a number if another session that is open or may come back has it. The caller
// holds names.
func (a *records) freeName(name string, id uuid.UUID) string {
	taken := make(map[string]bool)
	for _, r := range a.Store.Shared() {
		taken[r.Name] = taken[r.Name] || r.ID != id && (r.State.Live() || r.Resumable())
	}
	return naming.Free(name, taken)
}

// find returns the first record of which is says that it is meant.
func (a *records) find(is func(session.Record) bool) (session.Record, bool) {
	all := a.Shared()
	i := slices.IndexFunc(all, is)
	if i < 0 {
		return session.Record{}, false
	}
	return all[i], true
}

// madeBy returns the rule and the reason by which a record was made, according to its history.
func (a *records) madeBy(id uuid.UUID) (session.Rule, string) {
	r, _ := a.Store.Whole(id) // a history that cannot be read must not prevent the handover
	for _, c := range r.History {
		if c.From == "" {
			return c.Rule, c.Why
		}
	}
	return ruleAdopt, "its record says so"
}

// source returns the record that t took over from. An edited file may name itself, or form a ring:
// then no session took over.
func (a *records) source(t session.Record) (from session.Record, ok bool) {
	if t.TookOver == uuid.Nil {
		return session.Record{}, false
	}
	from, ok = a.Store.Get(t.TookOver)
	var seen []uuid.UUID
	for at, there := from, ok; there && !slices.Contains(seen, at.ID); at, there = a.Store.Get(at.TookOver) {
		if at.ID == t.ID {
			return session.Record{}, false
		}
		seen = append(seen, at.ID)
	}
	return from, ok
}

// halfMoved finds a transfer that an error has interrupted and that has this record as its target
// or its source. Until the transfer is finished, each prompt may belong to either session, so
// neither session does anything else.
func (a *records) halfMoved(r session.Record) (target uuid.UUID, half bool) {
	if from, ok := a.source(r); ok && !from.TransferDone() && !a.goesOn(from) {
		return r.ID, true
	}
	if r.TransferDone() || a.goesOn(r) {
		return uuid.Nil, false
	}
	for _, t := range slices.Backward(a.Store.Shared()) {
		if t.TookOver != r.ID {
			continue
		}
		if _, ok := a.source(t); ok {
			return t.ID, true
		}
	}
	return uuid.Nil, false
}

// goesOn says whether a session cannot be handed over: its agent lives, or its worker is about to
// start or to end one.
func (a *records) goesOn(r session.Record) bool {
	return r.State.Live() && (r.State != session.Running || a.o.ownAgent(r) == process.Alive)
}

// Rename gives a session a name that a person chose; where another session has the name, a number is
// added. When it returns, the record has the name. The window gets it from the next step.
func (s *Service) Rename(ctx context.Context, id uuid.UUID, name string) error {
	return s.kit.change(ctx, id, func(w *work) error { return w.rename(ctx, name, "") })
}

// nameAfter names a session after its first prompt that says what it is about. Only the folder's name
// is replaced.
func (w *work) nameAfter(ctx context.Context, prompt string) error {
	if w.r.NamedBy != session.NamedByFolder {
		return nil
	}
	name := naming.OfPrompt(filepath.Base(w.r.Dir), prompt)
	if name == "" {
		return nil
	}
	return w.rename(ctx, name, session.NamedByPrompt)
}

// rename tells the new name once the record has it: who hears it looks at the record, and does so after a
// start, too.
func (w *work) rename(ctx context.Context, name string, by session.Namer) error {
	if name == "" || name == w.r.Name && by == w.r.NamedBy {
		return nil
	}
	from := w.r.Name
	if err := w.saveNamed(name, by); err != nil || w.r.Name == from {
		return err
	}
	w.at("name-saved")
	return w.tell(ctx, *w.r, news.Renamed{})
}

func (w *work) saveNamed(name string, by session.Namer) error {
	w.records.names.Lock()
	defer w.records.names.Unlock()
	from := w.r.Name
	w.r.Rename(w.records.freeName(name, w.r.ID), by)
	if w.r.Name != from {
		w.r.NameDue = w.r.State.Live() && (w.r.Binding == nil || !w.r.Binding.Adopted)
	}
	return w.save()
}
