package ask

import (
	"slices"
	"strings"

	"ccbot/bot/card"
	"ccbot/bot/port/decisions"
	"ccbot/bot/render"
	"ccbot/bot/tool"
	"ccbot/i18n"
	"ccbot/internal/glyph"
)

// Bounds of one message, in UTF-16 units where nothing else is said. The body may take what the
// lines around it leave of Telegram's 4096; one that is longer is cut to a glance.
const (
	maxBody     = 2500
	maxLines    = 80
	maxEntities = 60 // of 100; the lines around the body have some too
	glance      = 1200
	glanceLines = 25
	overGlance  = 300 // of a request that is over
	overLines   = 6

	maxName  = 64
	maxWord  = 96 // name of a tool, type of a subagent
	maxPath  = 200
	maxRule  = 120
	maxRules = 4
	maxSaid  = 300
)

// View is one message: Text fits it, and Options stand under it in rows.
type View struct {
	Text    render.Text
	Options [][]card.Option
}

// Viewer draws cards in one language.
type Viewer struct {
	Words i18n.Words
	Home  string // shown as ~; empty: as it is
}

// shown is how much of a request its message shows.
type shown struct {
	whole     bool // all of it
	concealed bool // not all, because something in it leaves no mark
	tooBig    bool // more than [Show all] sends
}

// judge is asked with the sheet without the home, as it is at a tap.
func judge(c Card) shown {
	if len(c.Request.Input) > maxInput {
		return shown{tooBig: true}
	}
	s := sheetOf(c, tool.Paths{})
	j := shown{concealed: conceals(c.Request)}
	j.whole = !j.concealed && !s.Lossy && fits(s.Body) && !tooMuchAround(c.Request)
	j.tooBig = !j.whole && tooBig(c.Request)
	return j
}

func (j shown) allowable(c Card) bool { return j.whole || c.AllShown && !j.tooBig }

// Allowable says that a person may allow the request: the message, or [Show all], showed all of it.
func Allowable(c Card) bool { return judge(c).allowable(c) }

// View is the message of a card; name is the session's.
func (v Viewer) View(c Card, name string) View {
	var j shown
	if !c.IsOver() {
		j = judge(c)
	}
	s := sheetOf(bounded(c, drawnText), tool.Paths{Home: v.Home})
	blocks := []render.Text{v.title(s, name)}
	if !s.Above.Blank() {
		blocks = append(blocks, s.Above)
	}
	switch {
	case s.Body.Blank():
	case c.IsOver(): // the chat stays calm
		blocks = append(blocks, remembered(s.Body))
	default:
		blocks = append(blocks, v.cut(s.Body))
	}
	if !c.IsOver() {
		blocks = append(blocks, v.foot(c, s)...)
	}
	if status := v.status(c, j); !status.Blank() {
		blocks = append(blocks, render.Plain(""), status)
	}
	if outcomeKey(c) == i18n.AskAllowedSession && c.IsOver() {
		blocks = append(blocks, v.rules(c.Request, i18n.AskSessionGiven)...)
	}
	text := tool.Lines(blocks)
	if text.Length() > render.Limit { // the bounds above leave room for every sentence there is
		text = text.Split(render.Limit)[0]
	}
	return View{Text: text, Options: v.options(c, j)}
}

// sheetOf is what a message says of a request; of questions, the page that is to be answered.
func sheetOf(c Card, p tool.Paths) tool.Sheet {
	q := c.Request
	if list, ok := questionsOf(q); ok {
		return questionSheet(c, list)
	}
	if q.IsPlan() {
		if s, ok := tool.PlanOf(q.Input, p); ok {
			return s
		}
	}
	s := tool.SheetOf(q.Tool, q.Input, p)
	switch {
	case q.IsQuestion():
		s.Notes = append(s.Notes, tool.Note{Key: i18n.AskAtDesk})
	case q.IsPlan():
		s.Title, s.Args = i18n.AskPlan, nil
	}
	return s
}

// title is the first line, with the session's name in bold.
func (v Viewer) title(s tool.Sheet, name string) render.Text {
	args := i18n.Args{"Name": hole}
	for key, value := range s.Args {
		if word, ok := value.(string); ok {
			value, _ = tool.Clip(strings.ReplaceAll(tool.OneLined(word), hole, ""), maxWord)
		}
		args[key] = value
	}
	name, _ = tool.Clip(tool.OneLined(name), maxName)
	return v.around(s.Title, args, render.Bold(name))
}

// hole stands for a formatted text in a sentence: a character that means nothing to anybody.
const hole = "\uF8F0"

// around is a sentence with a formatted text in its hole.
func (v Viewer) around(key i18n.Key, args i18n.Args, inner render.Text) render.Text {
	before, after, found := strings.Cut(v.Words.Say(key, args), hole)
	if !found {
		return render.Join(render.Plain(before), render.Plain(" "), inner)
	}
	return render.Join(render.Plain(before), inner, render.Plain(after))
}

// cut shortens a body that does not fit to a glance and says how much more there is.
func (v Viewer) cut(body render.Text) render.Text {
	if fits(body) {
		return body
	}
	first := first(body, glance, glanceLines)
	more := strings.Count(body.Text, "\n") - strings.Count(first.Text, "\n")
	key := i18n.AskMoreLines
	if rest, ok := strings.CutPrefix(body.Text, first.Text); more <= 0 || ok && rest[0] != '\n' && !strings.HasSuffix(first.Text, "\n") {
		key, more = i18n.AskMoreCharacters, body.Length()-first.Length()
	}
	return tool.Lines([]render.Text{first, render.Italic(v.Words.Say(key, i18n.Args{"Count": more}))})
}

// first is the part of a body within a number of units and lines.
func first(body render.Text, limit, n int) render.Text {
	if at := tool.LineEnd(body.Text, n); at > 0 {
		limit = min(limit, at)
	}
	if len(body.Entities) > maxEntities {
		limit = min(limit, max(body.Entities[maxEntities].Offset, 2))
	}
	if parts := tool.Beginning(body, 2*limit).Split(limit); len(parts) > 0 {
		return parts[0]
	}
	return render.Text{}
}

// remembered is what stays of a body once its request is over.
func remembered(body render.Text) render.Text {
	if body.Length() <= overGlance && strings.Count(body.Text, "\n") < overLines && len(body.Entities) <= maxEntities {
		return body
	}
	return render.Join(first(body, overGlance, overLines), render.Plain("…"))
}

func fits(body render.Text) bool {
	return body.Length() <= maxBody && strings.Count(body.Text, "\n") < maxLines && len(body.Entities) <= maxEntities
}

// foot says where and for whom, and what "for this session" would allow.
func (v Viewer) foot(c Card, s tool.Sheet) []render.Text {
	var blocks []render.Text
	for _, n := range s.Notes {
		blocks = append(blocks, render.Plain(v.Words.Say(n.Key, n.Args)))
	}
	q := c.Request
	if cwd, _ := tool.Clip(tool.OneLined(tool.Paths{Home: v.Home}.Short(q.Cwd)), maxPath); strings.TrimSpace(cwd) != "" {
		blocks = append(blocks, v.around(i18n.AskIn, i18n.Args{"Dir": hole}, render.Code(cwd)))
	}
	if q.SubagentID != "" || q.Subagent != "" {
		kind, _ := tool.Clip(tool.OneLined(q.Subagent), maxWord)
		key := i18n.AskSubagent
		if strings.TrimSpace(kind) == "" {
			key = i18n.AskSubagentUnnamed
		}
		blocks = append(blocks, render.Plain(v.Words.Say(key, i18n.Args{"Type": kind})))
	}
	if c.State == StateOpen && c.Why == nil {
		blocks = append(blocks, v.rules(q, i18n.AskSessionRules)...)
	}
	// A rule that allows has nothing asked, so it says nothing of what is asked.
	if others := slices.DeleteFunc(slices.Clone(c.Project), func(a Answerer) bool { return a == decisions.AnswersByRule }); len(others) > 0 {
		blocks = append(blocks, render.Plain(ProjectAnswers(v.Words, others)))
	}
	return blocks
}

// ProjectAnswers says what in a project's own settings answers permission requests.
func ProjectAnswers(words i18n.Words, all []Answerer) string {
	var what []string
	for _, a := range all {
		what = append(what, words.Say(i18n.AnswererKey(string(a))))
	}
	return "⚠ " + words.Say(i18n.ProjectAnswers, i18n.Args{"What": strings.Join(what, ", ")})
}

// tooMuchAround says that a line around the body would be clipped.
func tooMuchAround(q Request) bool {
	rules := grantedWhats(q)
	long := len(rules) > maxRules
	for _, rule := range rules {
		_, cut := tool.Clip(glyph.Signs(rule), maxRule)
		long = long || cut
	}
	return long || cutBy(q.Tool, maxWord) || cutBy(q.Subagent, maxWord) || cutBy(q.Cwd, maxPath)
}

// conceals says that the request holds something that cannot be seen in a message.
func conceals(q Request) bool {
	if tool.Odd(q.Input) {
		return true
	}
	rules := grantedWhats(q)
	if slices.ContainsFunc(rules, func(s string) bool { return strings.TrimSpace(s) == "" }) {
		return true
	}
	for _, s := range []string{q.Tool, q.Subagent, q.Cwd} {
		if glyph.Hides(s) || strings.ContainsAny(s, "\n\t") {
			return true
		}
	}
	return slices.ContainsFunc(rules, glyph.Hides)
}

func cutBy(s string, limit int) bool {
	_, cut := tool.Clip(tool.OneLined(s), limit)
	return cut
}
