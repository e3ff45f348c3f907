package outbox

import (
	"maps"
	"strconv"
	"time"
)

// lane makes the lane of a chat, with the budget that an earlier run has left.
func (o *Outbox) lane(chat int64) *lane {
	o.budgets.Do(o.takeBudgets)
	l, now := newLane(chat), time.Now()
	given := now.Sub(o.began).Seconds() * float64(limitOf(chat))
	switch was, known := o.kept[key(chat)]; {
	case known:
		l.has(now, was.Tokens+given)
	case o.kept == nil: // the burst may have been used a moment ago
		l.has(now, 1+given)
	}
	l.until = now.Add(o.notes.heldFor(chat, now))
	return l
}

// takeBudgets takes what a clean stop has left of the budgets, with what time gave since. The file is
// away before anything is sent.
func (o *Outbox) takeBudgets() {
	var kept map[string]left
	o.notes.paces.change(func(all map[string]left) bool {
		kept = maps.Clone(all)
		clear(all)
		return len(kept) > 0
	})
	up, ok := o.uptime()
	if !ok || len(kept) == 0 {
		return
	}
	o.kept = kept
	for k, was := range kept {
		chat, _ := strconv.ParseInt(k, 10, 64)
		gained := max(up-was.Uptime, 0).Seconds() * float64(limitOf(chat))
		kept[k] = left{Tokens: was.Tokens + gained, Uptime: up}
	}
}

// keepBudgets keeps what is left of the budgets for the next run. A chat that is not named there has
// all of its budget.
func (o *Outbox) keepBudgets() {
	up, ok := o.uptime()
	if !ok || o.queues.fatal != nil || len(o.queues.lanes) == 0 {
		return
	}
	o.notes.paces.change(func(all map[string]left) bool {
		maps.Copy(all, o.kept)
		all[stop] = left{Uptime: up}
		for chat, l := range o.queues.lanes {
			all[key(chat)] = left{Tokens: max(l.budget.Tokens(), 0), Uptime: up}
		}
		return true
	})
}

func (o *Outbox) uptime() (time.Duration, bool) {
	if o.Uptime == nil {
		return 0, false
	}
	up, err := o.Uptime()
	return up, err == nil
}
