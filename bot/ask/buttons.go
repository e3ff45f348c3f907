package ask

import (
	"fmt"
	"slices"

	"ccbot/bot/card"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/bot/tool"
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
	verbKeep    = "keep"
	verbCancel  = "c"
	verbDesk    = "desk"
)

// maxLabel is about what a phone shows of a button.
const maxLabel = 40

// options are those that do something as the card stands; none once it is decided.
func (v Viewer) options(c Card, j shown) [][]card.Option {
	if c.State != StateOpen {
		return nil
	}
	b := v.option
	if c.Why != nil {
		row := []card.Option{b(i18n.AskCancel, "", verbCancel)}
		if !c.Why.Answer {
			row = append([]card.Option{b(denyWord(c.Request), outbox.Danger, verbDeny)}, row...)
		}
		return [][]card.Option{row}
	}
	var rows [][]card.Option
	if j.allowable(c) {
		rows = v.consent(c)
	}
	deny := []card.Option{b(denyWord(c.Request), outbox.Danger, verbDeny), b(i18n.AskDenyWhy, "", verbWhy)}
	if c.Request.IsPlan() {
		deny = []card.Option{b(i18n.AskKeepPlanning, "", verbKeep)}
	}
	rows = append(rows, deny)
	var more []card.Option
	if !j.whole && !c.AllShown && !j.tooBig { // else it leads to nothing
		more = append(more, b(i18n.AskShowAll, "", verbAll))
	}
	if c.Request.SubagentID != "" {
		more = append(more, b(i18n.AskDesk, "", verbDesk))
	}
	if len(more) > 0 {
		rows = append(rows, more)
	}
	return rows
}

// denyWord is what no means.
func denyWord(q Request) i18n.Key {
	switch {
	case q.IsQuestion():
		return i18n.AskNoAnswer
	case q.IsPlan():
		return i18n.AskSendBack
	}
	return i18n.AskDeny
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
func (v Viewer) answers(c Card, list []question) [][]card.Option {
	at := len(c.Progress.Answers)
	if at >= len(list) {
		return nil
	}
	q := list[at]
	var rows [][]card.Option
	for i, o := range q.options {
		text, cut := tool.Clip(tool.OneLined(o.label), maxLabel)
		if cut {
			text = fmt.Sprintf("%d. %s", i+1, text) // two that begin alike stay apart
		}
		if q.several {
			text = box(slices.Contains(c.Progress.Chosen, i)) + " " + text
		}
		rows = append(rows, []card.Option{{Text: text, Value: value(verbOption, at, i)}})
	}
	last := []card.Option{v.option(i18n.AskOther, "", verbOther, at)}
	if at > 0 {
		last = append(last, v.option(i18n.AskBack, "", verbBack, at))
	}
	if q.several && len(c.Progress.Chosen) > 0 {
		rows = append(rows, []card.Option{v.option(i18n.AskDone, outbox.Success, verbDone, at)})
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
