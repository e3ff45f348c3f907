package ask

import (
	"reflect"
	"strings"

	"ccbot/bot/port/decisions"
	"ccbot/bot/render"
	"ccbot/bot/tool"
	"ccbot/i18n"
)

// Status is the last line of a card's message: what a person may do now, or what became of the
// request. It is blank where the buttons say it.
func (v Viewer) Status(c Card) render.Text { return v.status(c, judge(c)) }

func (v Viewer) status(c Card, j shown) render.Text {
	switch c.State {
	case StateOpen:
		return v.wanted(c, j)
	case StateSent:
		return v.sent(c)
	case StateAway:
		if c.Away == DialogGone {
			return render.Plain(v.Words.Say(i18n.AskAwayGone))
		}
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
	return tool.Lines(said)
}

// wanted is what the message asks for, where the buttons do not say it.
func (v Viewer) wanted(c Card, j shown) render.Text {
	var key i18n.Key
	switch {
	case c.Why != nil:
		return v.awaited(*c.Why)
	case c.Unheard:
		key = i18n.AskUnheard
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

// awaited asks for a text, by name where several people read along.
func (v Viewer) awaited(w Why) render.Text {
	name, _ := tool.Clip(tool.OneLined(w.Name), maxName)
	named := strings.TrimSpace(name) != ""
	var key i18n.Key
	switch {
	case w.Answer && named:
		key = i18n.AskSayAnswerBy
	case w.Answer:
		key = i18n.AskSayAnswer
	case named:
		key = i18n.AskSayWhyBy
	default:
		key = i18n.AskSayWhy
	}
	return render.Italic(v.Words.Say(key, i18n.Args{"Person": name}))
}

// sent says what was decided: "sent" only once a hook has taken it.
func (v Viewer) sent(c Card) render.Text {
	key := i18n.AskNoted
	if !c.Given.IsZero() {
		key = i18n.AskSent
	}
	line := render.Plain(v.Words.Say(key, i18n.Args{"What": v.Words.Say(decisionKey(c))}))
	return tool.Lines(append([]render.Text{line}, reason(c)...))
}

func decisionKey(c Card) i18n.Key {
	q, d := c.Request, c.Decision
	denied := d == nil || !d.Allows()
	switch {
	case denied && q.IsQuestion():
		return i18n.AskDecidedNoAnswer
	case denied && q.IsPlan():
		return i18n.AskDecidedBack
	case denied:
		return i18n.AskDecidedDeny
	case q.IsQuestion():
		return i18n.AskDecidedAnswers
	case q.IsPlan():
		return i18n.AskDecidedApprove
	case len(d.UpdatedPermissions) > 0:
		return i18n.AskDecidedSession
	}
	return i18n.AskDecidedAllow
}

// reason is what the person wrote with a denial.
func reason(c Card) []render.Text {
	if c.Decision == nil {
		return nil
	}
	text, ok := strings.CutPrefix(c.Decision.Message, denial(c.Request)+wrote)
	if text, _ = tool.Clip(text, maxSaid); !ok || strings.TrimSpace(text) == "" {
		return nil
	}
	return []render.Text{render.Quote(text)}
}

// outcomeKey is the sentence of what became of a card.
func outcomeKey(c Card) i18n.Key {
	switch c.Outcome.What {
	case Allowed, Answered:
		return consentKey(c)
	case Denied:
		return denialKey(c.Request, c.Outcome)
	case Interrupted:
		return interruptKey(c)
	case Expired:
		return i18n.AskExpired
	case Ended:
		return i18n.AskEnded
	case Unknown:
	}
	return i18n.AskUnknown
}

func consentKey(c Card) i18n.Key {
	chat, hook, desk := i18n.AskAllowedChat, i18n.AskAllowedHook, i18n.AskAllowedDesk
	switch {
	case c.Request.IsQuestion():
		chat, hook, desk = i18n.AskAnsweredChat, i18n.AskAnsweredHook, i18n.AskAnsweredDesk
	case c.Request.IsPlan():
		chat, desk = i18n.AskApprovedChat, i18n.AskApprovedDesk
		if allowsEdits(c) {
			chat = i18n.AskApprovedEdits
		}
	case c.Decision != nil && len(c.Decision.UpdatedPermissions) > 0:
		chat = i18n.AskAllowedSession
	}
	return by(c.Outcome, chat, hook, desk)
}

// allowsEdits says that a plan was approved with the edits it needs.
func allowsEdits(c Card) bool {
	return c.Decision != nil && reflect.DeepEqual(c.Decision.UpdatedPermissions, decisions.ApprovePlan(c.Request, true).UpdatedPermissions)
}

func denialKey(q Request, o Outcome) i18n.Key {
	switch {
	case q.IsQuestion():
		return by(o, i18n.AskNotAnswered, i18n.AskDeniedHook, i18n.AskNotAnsweredDesk)
	case q.IsPlan():
		return by(o, i18n.AskSentBack, i18n.AskDeniedHook, i18n.AskSentBackDesk)
	}
	return by(o, i18n.AskDeniedChat, i18n.AskDeniedHook, i18n.AskDeniedDesk)
}

// interruptKey: "No" and Esc look the same, and so does an Esc after the tool was allowed.
func interruptKey(c Card) i18n.Key {
	switch {
	case c.Decision != nil && c.Decision.Allows() && !c.Given.IsZero():
		return i18n.AskInterruptedAfter
	case c.Stopped:
		return i18n.AskInterruptedChat
	}
	return i18n.AskInterrupted
}

// by picks the sentence that names who it was.
func by(o Outcome, chat, hook, desk i18n.Key) i18n.Key {
	switch {
	case o.Chat:
		return chat
	case o.Hook:
		return hook
	}
	return desk
}
