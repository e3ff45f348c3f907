package conversation

import (
	"cmp"

	"ccbot/port"
)

// Limits returns the settings whose budgets, idle limit and choice at a limit hold for a session: those
// of the chat in which it was started, wherever it is shown since. What a group has not chosen is as the
// person has it who started the session, and of two budgets the stricter counts.
func (c *Store) Limits(r port.Session) Settings {
	set, own := c.Settings(terms(r)), c.Settings(r.Owner)
	set.IdleAfter, set.AtLimit = cmp.Or(set.IdleAfter, own.IdleAfter), cmp.Or(set.AtLimit, own.AtLimit)
	set.SessionBudget, set.DayBudget = stricter(set.SessionBudget, own.SessionBudget), stricter(set.DayBudget, own.DayBudget)
	return set
}

// stricter returns the lower of two caps; 0: none.
func stricter(a, b float64) float64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// Days returns the chats in whose days a session counts.
func (c *Store) Days(r port.Session) []int64 {
	days := []int64{terms(r)}
	if r.Owner != 0 && r.Owner != days[0] {
		days = append(days, r.Owner)
	}
	return days
}

func terms(r port.Session) int64 { return cmp.Or(r.Terms, r.Conversation.ChatID) }
