package ask

import (
	"fmt"

	"ccbot/bot/card"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// The verbs of Tap.
const (
	verbAllow   = "ok"
	verbSession = "ses"
	verbDeny    = "no"
	verbWhy     = "why"
	verbAll     = "all"
	verbOption  = "o" // question, option
	verbDone    = "d" // question
	verbOther   = "x" // question
	verbBack    = "b" // question
	verbApprove = "plan"
	verbEdits   = "edit"
	verbCancel  = "c"
	verbDesk    = "desk"
)

// maxLabel is about what a phone shows of a button.
const maxLabel = 40

// options are those that do something as the card stands; none once it is decided.
func (v Viewer) options(c Card, j shown) (rows [][]card.Option) {
	if c.State != StateOpen {
		return nil
	}
	deny, why := v.option(i18n.AskDeny, outbox.Danger, verbDeny), i18n.AskDenyWhy
	if c.Why != nil {
		return [][]card.Option{{deny, v.option(i18n.AskCancel, "", verbCancel)}}
	}
	if c.Request.IsPlan() {
		why = i18n.AskKeepPlanning
	}
	if j.allowable(c) {
		rows = v.consent(c)
	}
	rows = append(rows, []card.Option{deny, v.option(why, "", verbWhy)})
	var more []card.Option
	if !j.allowable(c) && !j.tooBig { // else it leads to nothing
		more = append(more, v.option(i18n.AskShowAll, "", verbAll))
	}
	if c.Request.SubagentID != "" {
		more = append(more, v.option(i18n.AskDesk, "", verbDesk))
	}
	if len(more) > 0 {
		rows = append(rows, more)
	}
	return rows
}

// consent are the buttons that let the agent go on.
func (v Viewer) consent(c Card) [][]card.Option {
	q := c.Request
	b := func(key i18n.Key, verb string) card.Option { return v.option(key, outbox.Success, verb) }
	if list, ok := questionsOf(q); ok {
		return v.answers(c, list)
	}
	switch {
	case q.IsQuestion():
		return nil // taps cannot answer it
	case q.IsPlan():
		return [][]card.Option{{b(i18n.AskApprove, verbApprove), b(i18n.AskApproveEdits, verbEdits)}}
	case len(grantedBy(q)) > 0:
		return [][]card.Option{{b(i18n.AskAllow, verbAllow), b(i18n.AskAllowSession, verbSession)}}
	}
	return [][]card.Option{{b(i18n.AskAllow, verbAllow)}}
}

// answers are the options of the question that is to be answered, one a row.
func (v Viewer) answers(c Card, list []question) (rows [][]card.Option) {
	at := len(c.Progress.Answers)
	if at >= len(list) {
		return nil
	}
	q := list[at]
	for i, o := range q.options {
		text, cut := clip(oneLined(o.label), maxLabel)
		if cut {
			text = fmt.Sprintf("%d. %s", i+1, text) // two that begin alike stay apart
		}
		rows = append(rows, []card.Option{{Text: q.box(c.Progress.Chosen, i) + text, Value: value(verbOption, at, i)}})
	}
	if q.several && len(c.Progress.Chosen) > 0 {
		rows = append(rows, []card.Option{v.option(i18n.AskDone, outbox.Success, verbDone, at)})
	}
	last := []card.Option{v.option(i18n.AskOther, "", verbOther, at)}
	if at > 0 {
		last = append(last, v.option(i18n.AskBack, "", verbBack, at))
	}
	return append(rows, last)
}

func (v Viewer) option(key i18n.Key, style outbox.Style, verb string, args ...any) card.Option {
	return card.Option{Text: render.Plain(v.Words.Say(key)).Text, Value: value(verb, args...), Style: style}
}

// value is what an option gives to Tap: the verb and its arguments.
func value(verb string, args ...any) string {
	for _, arg := range args {
		verb += fmt.Sprintf(":%v", arg)
	}
	return verb
}
