package ask

import (
	"ccbot/bot/chat"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// status is the last line of a card's message: what a person may do now, or what became of the
// request. It is blank where the buttons say it.
func (v Viewer) status(c Card, j shown) render.Text {
	say := func(key i18n.Key, args ...i18n.Args) render.Text {
		return render.Italic(v.Words.Say(key, args...))
	}
	switch {
	case c.State == StateOpen && c.Why != nil:
		return say(i18n.AskWriteNow)
	case c.State == StateOpen && j.allowable(c):
		return render.Text{}
	case c.State == StateOpen && j.tooBig:
		return say(i18n.AskTooBig)
	case c.State == StateOpen:
		return say(i18n.AskNotAll)
	case c.State == StateAway:
		return say(i18n.AskAway)
	case c.State == StateSent: // "sent" only once a hook has taken it
		key, what := i18n.AskNoted, v.verdict(c, c.Decision.Allows(), i18n.AskInChat)
		if !c.Given.IsZero() {
			key = i18n.AskSent
		}
		return say(key, i18n.Args{"What": what})
	}
	o := c.Outcome
	said := []render.Text{render.Bold(v.outcome(c))}
	if o.Said != "" {
		said = append(said, render.Quote(o.Said))
	}
	if o.Late {
		said = append(said, say(i18n.AskLate))
	}
	return chat.Lines(said...)
}

// outcome says what became of a request, and by whom.
func (v Viewer) outcome(c Card) string {
	where := i18n.AskAtTerminal
	switch {
	case c.Outcome.Chat:
		where = i18n.AskInChat
	case c.Outcome.Hook:
		where = i18n.AskByHook
	}
	switch c.Outcome.What {
	case Allowed:
		return "✅ " + v.verdict(c, true, where)
	case Denied:
		return "❌ " + v.verdict(c, false, where)
	case Interrupted: // "No" and Esc look the same, and so does an Esc after the tool was allowed
		return v.Words.Say(i18n.AskInterrupted)
	case Ended:
		return v.Words.Say(i18n.AskEnded)
	}
	return v.Words.Say(i18n.AskUnknown)
}

// verdict is a yes or a no in the words of what was asked.
func (v Viewer) verdict(c Card, yes bool, where i18n.Key) string {
	key := i18n.AskAllowed
	switch q := c.Request; {
	case !yes:
		key = i18n.AskDenied
	case q.IsQuestion():
		key = i18n.AskAnswered
	case q.IsPlan():
		key = i18n.AskApproved
	case where == i18n.AskInChat && len(c.Decision.UpdatedPermissions) > 0:
		key = i18n.AskAllowedSession
	}
	return v.Words.Say(key, i18n.Args{"Where": v.Words.Say(where)})
}
