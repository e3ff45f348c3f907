package attention

import (
	"fmt"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/i18n"
	"ccbot/port"
	"ccbot/port/talk"
)

// Attention is what a session asks of people.
type Attention struct {
	Question  bool // its agent has an open question: a permission, a question, a plan, a dialog
	Undecided int  // messages of people about which nothing is decided
}

// Of returns what a session asks of people. now is what its agent does, the zero value if the session does not run;
// shown counts its cards.
func Of(now talk.Activity, shown card.Needs) Attention {
	return Attention{Question: now.Phase.Waiting() || shown.Answers > 0, Undecided: shown.Decisions}
}

// In returns what a session of a chat asks of people while its agent does this.
func In(c *chat.Chat, r port.Session, now talk.Activity) Attention {
	if r.State != port.StateRunning {
		now = talk.Activity{}
	}
	return Of(now, c.Cards.Needs(r.ID))
}

// Sign is the mark of undecided messages, with their number; empty: there are none.
func (a Attention) Sign() string {
	if a.Undecided == 0 {
		return ""
	}
	return fmt.Sprintf("✉%d", a.Undecided)
}

// Undecided is a sentence about undecided messages; empty: there are none.
func Undecided(p chat.Phrases, a Attention) string {
	if a.Undecided == 0 {
		return ""
	}
	return p.Say(i18n.UndecidedCount, i18n.Args{"Count": a.Undecided})
}
