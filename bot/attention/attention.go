package attention

import (
	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/i18n"
	"ccbot/port"
	"ccbot/port/talk"
)

// Attention describes what a session needs from people.
type Attention struct {
	Question  bool // open: a permission, a question, a plan, a dialog
	Undecided int  // messages of people without a decision
}

// Of returns the Attention of a session. now is its agent's activity, zero if the session does not
// run; shown counts its cards.
func Of(now talk.Activity, shown card.Needs) Attention {
	return Attention{Question: now.Phase.Waiting() || shown.Answers > 0, Undecided: shown.Decisions}
}

// In returns the Attention of a session in a chat, given its agent's activity.
func In(c *chat.Chat, r port.Session, now talk.Activity) Attention {
	if r.State != port.StateRunning {
		now = talk.Activity{}
	}
	return Of(now, c.Cards.Needs(r.ID))
}

// Sign returns the mark of undecided messages with their number, or "".
func (a Attention) Sign(w i18n.Words) string {
	if a.Undecided == 0 {
		return ""
	}
	return "✉" + w.Number(int64(a.Undecided))
}

// Undecided returns a sentence about undecided messages, or "".
func Undecided(p chat.Phrases, a Attention) string {
	if a.Undecided == 0 {
		return ""
	}
	return p.Say(i18n.UndecidedCount, i18n.Args{"Count": a.Undecided})
}
