package session

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"
)

// tookOverFrom is the field in which an earlier version noted that a record continues the
// conversation of another one.
const tookOverFrom = "took_over_from"

// Transfer is a change from one record to another that an earlier version has begun and not
// finished.
type Transfer struct{ From, To Record }

// Transfers returns the unfinished transfers. records have the order of List: a record continues
// only an older one.
func Transfers(records []Record) (found []Transfer) {
	for i, to := range records {
		var id uuid.UUID
		if json.Unmarshal(to.unknown[tookOverFrom], &id) != nil || id == uuid.Nil {
			continue
		}
		from := slices.IndexFunc(records[:i], func(r Record) bool { return r.ID == id })
		if from >= 0 && !records[from].transferred() {
			found = append(found, Transfer{records[from], to})
		}
	}
	return found
}

// transferred reports whether nothing is left in the record that belongs to the one that continues
// its conversation.
func (r *Record) transferred() bool {
	return r.HandedOver() && !r.State.Live() && r.Binding == nil && len(r.Prompts)+len(r.Cursors)+len(r.SecondWriters) == 0
}

// HandOver closes a record whose conversation another one continues.
func (r *Record) HandOver(now time.Time, rule Rule, to uuid.UUID) error {
	why := "session " + to.String() + " continues its conversation"
	if r.State.Live() {
		if err := r.Become(Lost, now, rule, why); err != nil {
			return err
		}
		r.EndedAt = now.UTC()
	} else {
		r.Note(now, rule, why)
	}
	r.Closed, r.Unreported, r.GrowthReported = ClosedTransferred, false, false
	r.Binding, r.Cleanup, r.Prompts, r.Cursors, r.SecondWriters = nil, nil, nil, nil, nil
	return nil
}
