package ask

import (
	"strings"

	"ccbot/bot/render"
	"ccbot/i18n"
)

// status is the last line: what a person may do now, or what became of the request.
func (v Viewer) status(c Card, j shown) render.Text {
	switch c.State {
	case StateOpen:
		return v.wanted(c, j)
	case StateSent:
		return v.sent(c)
	case StateAway:
		return render.Plain(v.Words.Say(i18n.AskAway))
	}
	said := []render.Text{render.Bold(v.Words.Say(outcomeKey(c)))}
	if c.Outcome.Chat && c.Decision != nil && !c.Decision.Allows() {
		said = append(said, reason(c)...)
	}
	if c.Outcome.Said != "" {
		said = append(said, render.Quote(c.Outcome.Said))
	}
	if c.Outcome.Late {
		said = append(said, render.Plain(v.Words.Say(i18n.AskLate)))
	}
	return lines(said)
}

// wanted is what the message asks for, where the buttons do not say it.
func (v Viewer) wanted(c Card, j shown) render.Text {
	var key i18n.Key
	switch {
	case c.Why != nil && c.Why.Answer:
		key = i18n.AskSayAnswer
	case c.Why != nil:
		key = i18n.AskSayWhy
	case j.allowable(c):
		return render.Text{}
	case j.tooBig:
		key = i18n.AskTooBig
	case j.concealed:
		key = i18n.AskConcealed
	default:
		key = i18n.AskTooLong
	}
	return render.Italic(v.Words.Say(key))
}

func (v Viewer) sent(c Card) render.Text {
	key := i18n.AskSentAllow
	switch d := c.Decision; {
	case d == nil || !d.Allows():
		return lines(append([]render.Text{render.Plain(v.Words.Say(i18n.AskSentDeny))}, reason(c)...))
	case c.Request.IsQuestion():
		key = i18n.AskSentAnswers
	case c.Request.IsPlan():
		key = i18n.AskSentApprove
	case len(d.UpdatedPermissions) > 0:
		key = i18n.AskSentSession
	}
	return render.Plain(v.Words.Say(key))
}

// reason is what the person wrote with a denial.
func reason(c Card) []render.Text {
	if c.Decision == nil {
		return nil
	}
	text, ok := strings.CutPrefix(c.Decision.Message, refusal(c.Request)+wrote)
	if text, _ = clip(text, maxSaid); !ok || strings.TrimSpace(text) == "" {
		return nil
	}
	return []render.Text{render.Quote(text)}
}

// outcomeKey is the sentence of what became of a card.
func outcomeKey(c Card) i18n.Key {
	chat, desk := i18n.AskUnknown, i18n.AskUnknown
	switch c.Outcome.What {
	case Allowed:
		chat, desk = i18n.AskAllowedChat, i18n.AskAllowedDesk
		if c.Request.IsPlan() {
			chat, desk = i18n.AskApprovedChat, i18n.AskApprovedDesk
		}
		if c.Decision != nil && len(c.Decision.UpdatedPermissions) > 0 && !c.Request.IsPlan() {
			chat = i18n.AskAllowedSession
		}
	case Denied:
		chat, desk = i18n.AskDeniedChat, i18n.AskDeniedDesk
	case Answered:
		chat, desk = i18n.AskAnsweredChat, i18n.AskAnsweredDesk
	case Interrupted:
		return i18n.AskInterrupted
	case Expired:
		return i18n.AskExpired
	case Ended:
		return i18n.AskEnded
	case Unknown:
	}
	if c.Outcome.Chat {
		return chat
	}
	return desk
}
