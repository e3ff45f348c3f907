package conversation

import (
	"cmp"

	"ccbot/port"
)

// Limits returns the settings whose budgets, idle limit and choice at a limit hold for a session: those
// of the chat in which it was started, wherever it is shown since. What a group has not chosen is as the
// person has it who started the session.
func (c *Store) Limits(r port.Session) Settings {
	set, own := c.Settings(terms(r)), c.Settings(r.Owner)
	set.IdleAfter, set.AtLimit = cmp.Or(set.IdleAfter, own.IdleAfter), cmp.Or(set.AtLimit, own.AtLimit)
	set.SessionBudget, set.DayBudget = cmp.Or(set.SessionBudget, own.SessionBudget), cmp.Or(set.DayBudget, own.DayBudget)
	return set
}

// Purse returns the chat in whose day a session counts.
func (c *Store) Purse(r port.Session) int64 {
	if chat := terms(r); r.Owner == 0 || c.Settings(chat).DayBudget > 0 {
		return chat
	}
	return r.Owner
}

func terms(r port.Session) int64 { return cmp.Or(r.Terms, r.Conversation.ChatID) }
