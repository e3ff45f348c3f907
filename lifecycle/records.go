package lifecycle

import (
	"slices"
	"sync"

	"github.com/google/uuid"

	"ccbot/internal/naming"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
)

// records are all records, and what is known only from more than one of them.
type records struct {
	*session.Store
	o     *view.Observer
	names sync.Mutex // held from the choice of a name until a record on disk has it
}

// createNamed puts a new record on disk, with a number after its name if the name is in use.
func (a *records) createNamed(r session.Record) error {
	a.names.Lock()
	defer a.names.Unlock()
	r.Name = a.freeName(r.Name, r.ID)
	return a.Store.Create(r)
}

// freeName returns a name, with a number if another session that is open or may come back has it.
// The caller holds names.
func (a *records) freeName(name string, id uuid.UUID) string {
	taken := make(map[string]bool)
	for _, r := range a.Store.Shared() {
		taken[r.Name] = taken[r.Name] || r.ID != id && (r.State.Live() || r.State.HasEnded())
	}
	return naming.Free(name, taken)
}

// find returns the first record for which is returns true.
func (a *records) find(is func(session.Record) bool) (session.Record, bool) {
	all := a.Shared()
	i := slices.IndexFunc(all, is)
	if i < 0 {
		return session.Record{}, false
	}
	return all[i], true
}
