package ask

import (
	"fmt"
	"slices"
	"strings"

	"ccbot/bot/render"
	"ccbot/hooks"
	"ccbot/i18n"
)

// Verb is the first word of the data of a card's buttons; the request's id follows, then what Tap gets.
const Verb = "p"

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

// Styles of buttons, in Telegram's words.
const (
	success = "success"
	danger  = "danger"
)

// maxLabel is about what a phone shows of a button.
const maxLabel = 40

// Button is one button. Data comes back with a tap, "p:<id>:<verb>:<arguments>", at most 64 bytes. Style is "success",
// "danger" or nothing.
type Button struct {
	Text, Data string
	Style      string
}

// buttons are those that do something as the card stands; none once it is decided.
func (v Viewer) buttons(c Card, j shown) [][]Button {
	if c.State != StateOpen {
		return nil
	}
	b := func(key i18n.Key, style, verb string, args ...any) Button {
		return v.button(c, key, style, verb, args...)
	}
	if c.Why != nil {
		row := []Button{b(i18n.AskCancel, "", verbCancel)}
		if !c.Why.Answer {
			row = append([]Button{b(denyWord(c.Request), danger, verbDeny)}, row...)
		}
		return [][]Button{row}
	}
	var rows [][]Button
	if j.allowable(c) {
		rows = v.consent(c)
	}
	deny := []Button{b(denyWord(c.Request), danger, verbDeny), b(i18n.AskDenyWhy, "", verbWhy)}
	if c.Request.IsPlan() {
		deny = []Button{b(i18n.AskKeepPlanning, "", verbKeep)}
	}
	rows = append(rows, deny)
	var more []Button
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
func denyWord(q hooks.Request) i18n.Key {
	switch {
	case q.IsQuestion():
		return i18n.AskNoAnswer
	case q.IsPlan():
		return i18n.AskSendBack
	}
	return i18n.AskDeny
}

// consent are the buttons that let the agent go on.
func (v Viewer) consent(c Card) [][]Button {
	q := c.Request
	b := func(key i18n.Key, verb string) Button { return v.button(c, key, success, verb) }
	if list, ok := questionsOf(q); ok {
		return v.answers(c, list)
	}
	switch {
	case q.IsQuestion():
		return nil // taps cannot answer it
	case q.IsPlan():
		return [][]Button{{b(i18n.AskApprove, verbApprove), b(i18n.AskApproveEdits, verbEdits)}}
	case len(grantedBy(q)) > 0:
		return [][]Button{{b(i18n.AskAllow, verbAllow), b(i18n.AskAllowSession, verbSession)}}
	}
	return [][]Button{{b(i18n.AskAllow, verbAllow)}}
}

// answers are the options of the question that is to be answered, one a row.
func (v Viewer) answers(c Card, list []question) [][]Button {
	at := len(c.Progress.Answers)
	if at >= len(list) {
		return nil
	}
	q := list[at]
	var rows [][]Button
	for i, o := range q.options {
		text, cut := clip(oneLined(o.label), maxLabel)
		if cut {
			text = fmt.Sprintf("%d. %s", i+1, text) // two that begin alike stay apart
		}
		if q.several {
			text = box(slices.Contains(c.Progress.Chosen, i)) + " " + text
		}
		rows = append(rows, []Button{{Text: text, Data: data(c, verbOption, at, i)}})
	}
	last := []Button{v.button(c, i18n.AskOther, "", verbOther, at)}
	if at > 0 {
		last = append(last, v.button(c, i18n.AskBack, "", verbBack, at))
	}
	if q.several && len(c.Progress.Chosen) > 0 {
		rows = append(rows, []Button{v.button(c, i18n.AskDone, success, verbDone, at)})
	}
	return append(rows, last)
}

func (v Viewer) button(c Card, key i18n.Key, style, verb string, args ...any) Button {
	return Button{Text: render.Plain(v.Words.Say(key)).Text, Data: data(c, verb, args...), Style: style}
}

func data(c Card, verb string, args ...any) string {
	parts := []string{Verb, c.Request.ID, verb}
	for _, arg := range args {
		parts = append(parts, fmt.Sprint(arg))
	}
	return strings.Join(parts, ":")
}
