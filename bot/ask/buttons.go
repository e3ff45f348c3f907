package ask

import (
	"fmt"
	"time"

	"ccbot/bot/card"
	"ccbot/bot/outbox"
	"ccbot/bot/port/decisions"
	"ccbot/i18n"
)

// action is what a tap does. Its button is there exactly while it can be done.
type action struct {
	row   int
	word  i18n.Key
	style outbox.Style
	verb  string
	can   func(c Card, j shown) bool // nil: always
	do    func(c Card, by int64, now time.Time) Card
}

// verbShow brings the message below that replaces an answer which was not delivered.
const verbShow = "show"

// verbAll has everything sent that a request says; the card is told when all of it was delivered.
const verbAll = "all"

var (
	deny    = action{1, i18n.AskDeny, outbox.Danger, "no", nil, decides(denied)}
	actions = []action{
		{0, i18n.AskAllow, outbox.Success, "ok", permits, decides(decisions.Allow)},
		{0, i18n.AskAllowSession, outbox.Success, "ses", func(c Card, j shown) bool { return permits(c, j) && len(grantedBy(c.Request)) > 0 }, decides(allowForSession)},
		{0, i18n.AskApprove, outbox.Success, "plan", approves, decides(approve(false))},
		{0, i18n.AskApproveEdits, outbox.Success, "edit", approves, decides(approve(true))},
		deny,
		{1, i18n.AskDenyWhy, "", "why", func(c Card, _ shown) bool { return !c.Request.IsPlan() }, askWhy},
		{1, i18n.AskKeepPlanning, "", "why", func(c Card, _ shown) bool { return c.Request.IsPlan() }, askWhy},
		{2, i18n.AskShowAll, "", verbAll, func(c Card, j shown) bool { return !j.allowable(c) && !j.tooBig },
			func(c Card, _ int64, _ time.Time) Card { return c }},
		// A subagent's dialog is not drawn in the terminal while its hook waits.
		{2, i18n.AskDesk, "", "desk", func(c Card, _ shown) bool { return c.Request.SubagentID != "" },
			func(c Card, _ int64, now time.Time) Card { return leave(c, true, now) }},
	}
	// whileWriting are those of a card that waits for a person's words.
	whileWriting = []action{deny, {1, i18n.AskCancel, "", "c", nil, Card.unwait}}
)

// doable are the actions that can be done with an open card.
func doable(c Card, j shown) (all []action) {
	list := actions
	if c.Why != nil {
		list = whileWriting
	}
	for _, a := range list {
		if a.can == nil || a.can(c, j) {
			all = append(all, a)
		}
	}
	return all
}

func permits(c Card, j shown) bool {
	return j.allowable(c) && !c.Request.IsPlan() && !c.Request.IsQuestion()
}

func approves(c Card, j shown) bool { return j.allowable(c) && c.Request.IsPlan() }

// decides decides as Claude Code is told by a decision.
func decides(with func(q Request) decision) func(c Card, by int64, now time.Time) Card {
	return func(c Card, by int64, now time.Time) Card { return c.decided(by, with(c.Request), now) }
}

func allowForSession(q Request) decision {
	d, _ := decisions.AllowForSession(q)
	return d
}

func approve(edits bool) func(q Request) decision {
	return func(q Request) decision { return decisions.ApprovePlan(q, edits) }
}

func denied(q Request) decision { return decisions.Deny(denial(q)) }

func askWhy(c Card, by int64, now time.Time) Card {
	c.Why = &Writer{By: by, At: now.UTC()}
	return c
}

// The verbs about a question; the number of the question follows, and that of an option.
const (
	verbOption = "o"
	verbDone   = "d"
	verbOther  = "x"
	verbBack   = "b"
)

// maxLabel is about what a phone shows of a button.
const maxLabel = 40

// options are those that do something as the card stands; none once its decision is on its way.
func (v Viewer) options(c Card, j shown) (rows [][]card.Option) {
	if c.isUndelivered() {
		return [][]card.Option{{v.option(i18n.ButtonShow, "", verbShow)}}
	}
	if c.State != StateOpen {
		return nil
	}
	if list, _ := questionsOf(c.Request); c.Why == nil && j.allowable(c) {
		rows = v.answers(c, list)
	}
	row := -1
	for _, a := range doable(c, j) {
		if a.row != row {
			row, rows = a.row, append(rows, nil)
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], v.option(a.word, a.style, a.verb))
	}
	return rows
}

// answers are the options of the question that is to be answered, one a row.
func (v Viewer) answers(c Card, list []question) (rows [][]card.Option) {
	at := len(c.Progress.Answers)
	if at >= len(list) {
		return nil
	}
	q := list[at]
	for i, o := range q.options {
		text, cut := inUnits(oneLined(o.label), maxLabel)
		if cut {
			text = fmt.Sprintf("%d. %s", i+1, text) // two that begin alike stay apart
		}
		text = q.box(c.Progress.Chosen, i) + text
		rows = append(rows, []card.Option{{Text: text, Value: value(verbOption, at, i)}})
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
	return card.Option{Text: v.Words.Say(key), Value: value(verb, args...), Style: style}
}

// value is what an option gives to Tap: the verb and its arguments.
func value(verb string, args ...any) string {
	for _, arg := range args {
		verb += fmt.Sprintf(":%v", arg)
	}
	return verb
}
