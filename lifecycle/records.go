package lifecycle

import (
	"slices"
	"sync"

	"github.com/google/uuid"

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

// byOrigin finds the session that this command has already started.
func (a *records) byOrigin(origin string) (session.Record, bool) {
	for _, r := range a.Store.Shared() {
		if origin != "" && r.Origin == origin && r.State != session.Failed {
			return r, true
		}
	}
	return session.Record{}, false
}

// boundTo finds the open session that has the conversation and whose agent is this process.
func (a *records) boundTo(agent process.Identity, claudeID uuid.UUID) (session.Record, bool) {
	for _, r := range a.Store.Shared() {
		if r.State.Live() && r.ClaudeSessionID == claudeID && r.Agent() == agent && agent.Valid() {
			return r, true
		}
	}
	return session.Record{}, false
}

// successor finds the session that continues another session's conversation. If that session has a
// successor in turn, the last one counts.
func (a *records) successor(id uuid.UUID) (last session.Record, found bool) {
	return session.Successor(a.Store.Shared(), id)
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
