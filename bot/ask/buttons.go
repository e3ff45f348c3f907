package ask

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"ccbot/bot/card"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/each"
	"ccbot/port/talk"
)

// action is the action of a button, which is shown exactly while the action is possible.
type action struct {
	row   int
	word  i18n.Key
	style outbox.Style
	verb  string
	can   func(c State, j extent) bool // nil: always
	do    func(c State, by int64, now time.Time) State
}

// verbShow shows the message that replaces an undelivered answer again, below.
const verbShow = "show"

// verbAll sends the whole request; AllShown is set when all of it was delivered.
const verbAll = "all"

var (
	deny    = action{1, i18n.AskDeny, outbox.Danger, "no", func(s State, _ extent) bool { return !s.isQuestion() }, decides(talk.ChoiceDeny)}
	skip    = action{1, i18n.AskSkip, "", "no", func(s State, _ extent) bool { return s.isQuestion() && !s.asksSeveral() }, decides(talk.ChoiceDeny)}
	skipAll = action{1, i18n.AskSkipAll, "", "no", func(s State, _ extent) bool { return s.isQuestion() && s.asksSeveral() }, decides(talk.ChoiceDeny)}
	actions = []action{
		{0, i18n.AskAllow, outbox.Success, "ok", offers(talk.ChoiceAllow), decides(talk.ChoiceAllow)},
		{0, i18n.AskAllowSession, outbox.Success, "ses", offers(talk.ChoiceAllowSession), decides(talk.ChoiceAllowSession)},
		{0, i18n.AskAllowEdits, outbox.Success, "edits", offers(talk.ChoiceAllowEdits), decides(talk.ChoiceAllowEdits)},
		{0, i18n.AskApprove, outbox.Success, "plan", offers(talk.ChoiceApprove), decides(talk.ChoiceApprove)},
		{0, i18n.AskApproveEdits, outbox.Success, "edit", offers(talk.ChoiceApproveEdits), decides(talk.ChoiceApproveEdits)},
		skip,
		skipAll,
		deny,
		{1, i18n.AskDenyWhy, "", "why", func(s State, j extent) bool { // not beside [Own words]
			return s.Request.Ask.Kind != talk.AskPlan && !s.Request.Ask.Wordless && !(s.isQuestion() && j.allowable(s))
		}, askWhy},
		{1, i18n.AskKeepPlanning, "", "why", func(s State, _ extent) bool { return s.Request.Ask.Kind == talk.AskPlan }, askWhy},
		{2, i18n.AskShowAll, "", verbAll, func(s State, j extent) bool { return !j.allowable(s) && !j.tooBig },
			func(s State, _ int64, _ time.Time) State { return s }},
		// A subagent's dialog is not drawn in the terminal while its hook waits.
		{2, i18n.AskDesk, "", "desk", func(s State, _ extent) bool { return s.Request.SubagentID != "" },
			func(s State, _ int64, now time.Time) State { return leave(s, true, now) }},
	}
	// whileWriting holds the actions while a request waits for a person's words.
	whileWriting = []action{skip, skipAll, deny, {1, i18n.AskCancel, "", "c", nil, State.unwait}}
)

// possibleActions returns the possible actions of an open request.
func possibleActions(s State, j extent) (all []action) {
	list := actions
	if s.Why != nil {
		list = whileWriting
	}
	for _, a := range list {
		if a.can == nil || a.can(s, j) {
			all = append(all, a)
		}
	}
	return all
}

// offers returns a condition of a choice that allows: all of the request was shown.
func offers(id talk.ChoiceID) func(State, extent) bool {
	return func(s State, j extent) bool {
		_, ok := s.Request.Ask.Choice(id)
		return ok && j.allowable(s)
	}
}

// decides returns an action that decides by a choice.
func decides(id talk.ChoiceID) func(s State, by int64, now time.Time) State {
	return func(s State, by int64, now time.Time) State { return s.decided(by, talk.Answer{Choice: id}, now) }
}

func askWhy(s State, by int64, now time.Time) State {
	s.Why = &Writer{By: by, At: now.UTC()}
	return s
}

// Verbs of a question; its index follows, then an option's, and those of all ticks after verbDone: it
// sends what its person saw ticked, and nothing that another person has ticked since.
const (
	verbOption = "o"
	verbUntick = "u"
	verbDone   = "d"
	verbOther  = "x"
	verbBack   = "b"
)

// maxLabel is about the length of a button on a phone; two of shortLabel columns fit in a row there.
const (
	maxLabel   = 40
	shortLabel = 14
)

// options returns the buttons of a request; none once its decision is sent.
func (v Viewer) options(s State, j extent) (rows [][]card.Option) {
	if s.isUndelivered() {
		return [][]card.Option{{v.option(i18n.ButtonShow, "", verbShow)}}
	}
	if s.Stage != StageOpen {
		return nil
	}
	if s.Why == nil && j.allowable(s) {
		rows = v.answers(s, s.Request.Ask.Pages)
	}
	row := -1
	if len(rows) > 0 {
		row = 1 // a question's [Skip] stands beside the last of its buttons
	}
	for _, a := range possibleActions(s, j) {
		if a.row != row || len(rows[len(rows)-1]) == 2 {
			row, rows = a.row, append(rows, nil)
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], v.option(a.word, a.style, a.verb))
	}
	return rows
}

// answers returns the options of the current question, short ones in pairs.
func (v Viewer) answers(s State, list []talk.Page) (rows [][]card.Option) {
	at := len(s.Progress.Answers)
	if at >= len(list) {
		return nil
	}
	page := list[at]
	room := false // for a second one
	for i, o := range page.Options {
		text, _ := inUnits(oneLined(o.Label), maxLabel)
		short := ansi.StringWidth(text) <= shortLabel
		verb := verbOption
		if page.Several && slices.Contains(s.Progress.Chosen, i) {
			verb = verbUntick
		}
		option := card.Option{Text: box(page, s.Progress.Chosen, i) + letter(page, i) + text, Value: value(verb, at, i)}
		if room = room && short; room {
			rows[len(rows)-1] = append(rows[len(rows)-1], option)
			room = false
			continue
		}
		rows, room = append(rows, []card.Option{option}), short
	}
	if page.Several && len(s.Progress.Chosen) > 0 {
		rows = append(rows, []card.Option{v.option(i18n.AskDone, outbox.Success, verbDone, at, strings.Join(ticks(s.Progress.Chosen), ":"))})
	}
	last := []card.Option{v.option(i18n.AskOther, "", verbOther, at)}
	if at > 0 {
		last = append(last, v.option(i18n.AskBack, "", verbBack, at))
	}
	return append(rows, last)
}

// ticks are the marked options in a button's value.
func ticks(chosen []int) []string { return each.As(chosen, strconv.Itoa) }

// letter ties an option's button to its line in the text, where not all labels fit on buttons.
func letter(page talk.Page, i int) string {
	switch fits := !slices.ContainsFunc(page.Options, func(o talk.Option) bool { return !fitsButton(o) }); {
	case fits:
		return ""
	case i > 'Z'-'A':
		return fmt.Sprintf("%d. ", i+1)
	}
	return fmt.Sprintf("%c. ", 'A'+i)
}

func fitsButton(o talk.Option) bool {
	label := oneLined(o.Label)
	_, cut := inUnits(label, maxLabel)
	return !cut && strings.TrimSpace(label) != ""
}

func (v Viewer) option(key i18n.Key, style outbox.Style, verb string, args ...any) card.Option {
	return card.Option{Text: v.Words.Say(key), Value: value(verb, args...), Style: style}
}

// value returns the argument of Tap for an option: the verb and its arguments.
func value(verb string, args ...any) string {
	for _, arg := range args {
		verb += fmt.Sprintf(":%v", arg)
	}
	return verb
}
