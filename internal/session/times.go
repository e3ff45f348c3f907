package session

import "time"

// inUTC changes every time of the record to UTC, because the files and their readers use no other
// zone. The moment stays the same.
func (r *Record) inUTC() {
	for _, at := range r.times() {
		*at = at.UTC()
	}
}

// times returns pointers to all times of the record.
func (r *Record) times() []*time.Time {
	all := []*time.Time{&r.CreatedAt, &r.UpdatedAt, &r.StartedAt, &r.ReportsAt, &r.ReadyAt, &r.EndedAt, &r.ReturnedAt, &r.PhaseAt, &r.PhaseUntil,
		&r.Progress.LastTurn, &r.Progress.Failed.Until}
	if r.Binding != nil {
		all = append(all, &r.Binding.BoundAt)
	}
	if r.Exit != nil {
		all = append(all, &r.Exit.At)
	}
	if r.Cleanup != nil {
		all = append(all, &r.Cleanup.NotBefore)
	}
	if r.Interruption != nil {
		all = append(all, &r.Interruption.At)
	}
	if r.Progress.Open != nil {
		all = append(all, &r.Progress.Open.At)
	}
	if r.Usage != nil {
		all = append(all, &r.Usage.At)
	}
	if r.GitStart != nil {
		all = append(all, &r.GitStart.At)
	}
	if r.GitNow != nil {
		all = append(all, &r.GitNow.At)
	}
	for i := range r.History {
		all = append(all, &r.History[i].At)
	}
	return all
}
