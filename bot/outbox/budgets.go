package outbox

import "time"

func (o *Outbox) lane(chat int64) *lane {
	o.budgets.Do(o.takeBudgets)
	l, now := newLane(chat), time.Now()
	for _, b := range l.budgets {
		full, all := o.full[key(chat)], timeFor(float64(b.Burst()), b)
		if o.full == nil { // the previous run may have used a burst a moment ago
			full = timeFor(float64(b.Burst()-1), b)
		}
		b.AllowN(now.Add(min(full-now.Sub(o.began), all)-all), b.Burst())
	}
	l.cards.AllowN(now, 1) // the previous run may have drawn one a moment ago
	l.until = now.Add(o.notes.heldFor(chat, now))
	return l
}

// takeBudgets reads from the disk, before anything is sent, when each budget is full again.
func (o *Outbox) takeBudgets() {
	o.notes.full.Change(func(all map[string]time.Duration) bool {
		if o.Uptime == nil || len(all) == 0 {
			return false
		}
		o.full = map[string]time.Duration{}
		for k, at := range all {
			o.full[k] = at - o.Uptime()
		}
		clear(all)
		return true
	})
}

// keepBudgets writes to the disk, for the next run, when each budget is full again. A chat that is
// not in the file has a full budget.
func (o *Outbox) keepBudgets() {
	if o.Uptime == nil || o.queues.fatal != nil {
		return
	}
	up := o.Uptime()
	o.budgets.Do(o.takeBudgets)
	o.notes.full.Change(func(all map[string]time.Duration) bool {
		all["stop"] = up // so that there is a file
		for k, after := range o.full {
			all[k] = up + after - time.Since(o.began)
		}
		for chat, l := range o.queues.lanes {
			for _, b := range l.budgets { // the last one is the slowest
				all[key(chat)] = up + timeFor(float64(b.Burst())-b.Tokens(), b)
			}
		}
		return true
	})
}
