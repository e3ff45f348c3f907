package ask

import (
	"math"
	"slices"
	"strings"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/guard"
	"ccbot/port/talk"
)

// Bounds of one message, in UTF-16 units unless noted. The body may use what the lines around it
// leave of Telegram's 4096; a longer body is cut to a glance.
const (
	maxBody     = 2500
	maxLines    = 80
	maxEntities = 60 // of 100; the lines around the body also have some
	glance      = 1200
	glanceLines = 25
	endedGlance = 300 // for a request that has ended
	endedLines  = 6

	maxName  = 64
	maxWord  = 96 // name of a tool, type of a subagent
	maxPath  = 200
	maxRule  = 120
	maxRules = 4
	maxReply = 300
)

// View is one message: Text fits in it, with rows of Options.
type View struct {
	Text    render.Text
	Options [][]card.Option
}

// Viewer draws requests in one language.
type Viewer struct {
	Words  i18n.Words
	Home   string // shown as ~; empty: not replaced
	By     string // who has decided, where others read it too; empty: "in the chat"
	Writer string // who writes the awaited text, where others read it too
	Away   string // the sentence about a machine that does not answer; empty: it does
}

// short replaces the home directory in a path by ~.
func (v Viewer) short(path string) string {
	rest, ok := strings.CutPrefix(path, v.Home)
	if len(v.Home) < 2 || !ok || rest != "" && rest[0] != '/' {
		return path
	}
	return "~" + rest
}

// extent describes how much of a request its message shows.
type extent struct {
	whole  bool // all of it
	tooBig bool // more than [Show all] sends
}

// judge returns what the message shows. It ignores the home, as a tap does, and that a person writes:
// the options, which have lines then, had their buttons.
func judge(s State) extent {
	s.Why = nil
	ask := s.Request.Ask
	if ask.Details == nil {
		return extent{tooBig: true}
	}
	_, cut := first(Viewer{}.sheetOf(s).body, maxBody, maxLines)
	whole := !cut && ask.Whole && !hides(s)
	return extent{whole, !whole && Viewer{}.everything(s).Length() > maxAll}
}

// hides reports whether a part around the body is clipped or invisible.
func hides(s State) bool {
	q := s.Request
	unseen := func(s string, limit int) bool {
		_, cut := inUnits(oneLined(s), limit)
		return cut || glyph.Hides(s)
	}
	for _, g := range grants(s) {
		if strings.TrimSpace(g.Text) == "" || unseen(g.Text, maxRule) {
			return true
		}
	}
	hidden := func(d talk.Detail) bool { return glyph.Hides(d.Name) || glyph.Hides(d.Text) }
	return slices.ContainsFunc(q.Ask.Details, hidden) || unseen(q.Ask.Tool, maxWord) || unseen(q.Subagent, maxWord) || unseen(q.Cwd, maxPath) ||
		len(grants(s)) > maxRules
}

func (j extent) allowable(s State) bool { return j.whole || s.AllShown && !j.tooBig }

// allowable reports whether a person may allow the request, because all of it was shown.
func allowable(s State) bool { return judge(s).allowable(s) }

// View returns the message of a request; name is the session's.
func (v Viewer) View(s State, name string) View {
	j := judge(s)
	page := v.sheetOf(s)
	name, _ = inUnits(oneLined(name), maxName)
	title := render.Bold(v.Words.Say(page.title, page.args, i18n.Args{"Name": name}))
	blocks := []render.Text{title}
	if s.HasEnded() { // the chat stays short
		body, cut := first(page.body, endedGlance, endedLines)
		if cut {
			body = render.Join(body, render.Plain("…"))
		}
		blocks = append(blocks, body)
	} else {
		blocks = append(append(blocks, v.cut(page.body)), v.foot(s)...)
	}
	explanation, _ := inUnits(s.Explanation, maxExplanation)
	text := chat.Paragraphs(render.Quote(explanation), chat.Lines(blocks...), v.status(s, j))
	return View{Text: text, Options: v.options(s, j)}
}

// drawSafely returns the result of draw. A panic at an agent's text must not end the bot at each
// start: then the message names the terminal as the place to decide.
func (v Viewer) drawSafely(name string, draw func(v Viewer, name string) View) (seen View, err error) {
	err = guard.Call(func() error { seen = draw(v, name); return nil })
	if err != nil {
		args := i18n.Args{"What": render.Bold(glyph.Name(name)), "Said": v.Words.Say(i18n.AskAtDesk)}
		seen = View{Text: render.Join(render.Plain(chat.Warning), chat.Phrases{Words: v.Words}.Text(i18n.Named, args))}
	}
	return seen, err
}

// cut shortens a body that does not fit to a glance, with the length of the rest.
func (v Viewer) cut(body render.Text) render.Text {
	if _, cut := first(body, maxBody, maxLines); !cut {
		return body
	}
	seen, _ := first(body, glance, glanceLines)
	more := i18n.Args{"Count": body.Length() - seen.Length()}
	return chat.Lines(seen, render.Italic(v.Words.Say(i18n.AskMoreCharacters, more)))
}

// first returns the part of a body within limit units and n lines, and reports whether it is cut.
func first(body render.Text, limit, n int) (part render.Text, cut bool) {
	if body.Length() <= limit && strings.Count(body.Text, "\n") < n &&
		len(body.Entities) <= maxEntities {
		return body, false
	}
	if all := strings.SplitAfterN(body.Text, "\n", n+1); len(all) > n {
		limit = min(limit, render.Text{Text: strings.Join(all[:n], "")}.Length())
	}
	if len(body.Entities) > maxEntities {
		limit = min(limit, body.Entities[maxEntities].Offset)
	}
	return body.Begin(limit), true
}

// foot returns the folder, the subagent, and the permissions of "for this session".
func (v Viewer) foot(s State) (list []render.Text) {
	q := s.Request
	if q.Ask.Kind == talk.AskQuestion && len(q.Ask.Pages) == 0 {
		list = append(list, render.Plain(v.Words.Say(i18n.AskAtDesk)))
	}
	if cwd, _ := inUnits(oneLined(v.short(q.Cwd)), maxPath); cwd != "" && !s.isQuestion() {
		list = append(list, chat.Phrases{Words: v.Words}.Text(i18n.AskIn, i18n.Args{"Dir": render.Code(cwd)}))
	}
	if q.SubagentID != "" || q.Subagent != "" {
		by := v.Words.Say(i18n.AskSubagent)
		if kind, _ := inUnits(oneLined(q.Subagent), maxWord); kind != "" {
			by = v.Words.Say(i18n.Noted, i18n.Args{"What": by, "Note": kind})
		}
		list = append(list, render.Plain(by))
	}
	if s.Stage == StageOpen {
		list = append(list, v.rules(s, maxRules, maxRule)...)
	}
	// A rule that allows a call prevents the request, so it is not listed.
	isRule := func(a talk.Answerer) bool { return a == talk.AnswersByRule }
	if others := slices.DeleteFunc(slices.Clone(s.Project), isRule); len(others) > 0 {
		list = append(list, render.Plain(chat.ProjectAnswers(v.Words, others)))
	}
	return list
}

// status returns the last line of a message: the next step, or the outcome, unless buttons show it.
func (v Viewer) status(s State, j extent) render.Text {
	say := func(key i18n.Key, args ...i18n.Args) render.Text {
		return render.Italic(v.Words.Say(key, args...))
	}
	switch {
	case s.Stage == StageOpen && v.Away != "":
		return say(i18n.AskMachineAway, i18n.Args{"Away": v.Away})
	case s.Stage == StageOpen && s.Why != nil:
		if v.Writer != "" {
			return say(i18n.AskWrites, i18n.Args{"Person": v.Writer})
		}
		return say(i18n.AskWriteNow)
	case s.Stage == StageOpen && j.allowable(s):
		return render.Text{}
	case s.Stage == StageOpen && j.tooBig:
		return say(i18n.AskTooBig)
	case s.Stage == StageOpen:
		return say(i18n.AskNotAll)
	case s.isUndelivered():
		return say(i18n.AskUndelivered, i18n.Args{"What": v.verdict(s, s.Answer.Allows(), i18n.AskInChat)})
	case s.Stage == StageAway:
		return say(i18n.AskAway)
	case s.Stage == StageSent: // "sent" only after a hook accepted it
		key, what := i18n.AskNoted, v.verdict(s, s.Answer.Allows(), i18n.AskInChat)
		if !s.Given.IsZero() {
			key = i18n.AskSent
		}
		return say(key, i18n.Args{"What": what})
	}
	o := s.Outcome
	said := []render.Text{render.Bold(v.outcome(s))}
	if o.Reply != "" {
		said = append(said, render.Quote(o.Reply))
	}
	if o.Late {
		said = append(said, say(i18n.AskLate))
	}
	return chat.Lines(said...)
}

// outcome describes the outcome of a request, and its origin.
func (v Viewer) outcome(s State) string {
	where := i18n.AskAtTerminal
	switch {
	case s.Outcome.Chat:
		where = i18n.AskInChat
	case s.Outcome.Hook:
		where = i18n.AskByHook
	}
	switch s.Outcome.What {
	case Allowed:
		return "✅ " + v.verdict(s, true, where)
	case Denied:
		sign := "❌ "
		if s.isQuestion() {
			sign = "⏭ "
		}
		return sign + v.verdict(s, false, where)
	case Interrupted: // "No" and Esc look the same, and so does an Esc after the tool was allowed
		return v.Words.Say(i18n.AskInterrupted)
	case Ended:
		return v.Words.Say(i18n.AskEnded)
	}
	return v.Words.Say(i18n.AskUnknown)
}

// verdict returns a yes or a no in the words of the request.
func (v Viewer) verdict(s State, yes bool, where i18n.Key) string {
	key := i18n.AskAllowed
	switch kind := s.Request.Ask.Kind; {
	case !yes && s.isQuestion():
		key = i18n.AskSkipped
	case !yes:
		key = i18n.AskDenied
	case kind == talk.AskQuestion:
		key = i18n.AskAnswered
	case kind == talk.AskPlan:
		key = i18n.AskApproved
	case where == i18n.AskInChat && s.Answer.Choice == talk.ChoiceAllowSession:
		key = i18n.AskAllowedSession
	case where == i18n.AskInChat && s.Answer.Choice == talk.ChoiceAllowEdits:
		key = i18n.AskAllowedEdits
	}
	if where == i18n.AskInChat && v.By != "" {
		return v.Words.Say(key, i18n.Args{"Where": v.Words.Say(i18n.AskByPerson, i18n.Args{"Person": v.By})})
	}
	return v.Words.Say(key, i18n.Args{"Where": v.Words.Say(where)})
}

// maxAll bounds [Show all], in UTF-16 units: longer requests are not read to allow one call. They
// are the messages that it sends at most.
const (
	maxParts = 20
	maxAll   = maxParts * render.Limit
)

// All returns the whole request in raw form, in parts that fit in a message: every field, with
// signs for invisible characters (⟨U+202E⟩, ⟨200×␠⟩), and the permissions of "for this session".
func (v Viewer) All(s State) []render.Text { return v.everything(s).Split(render.Limit) }

func (v Viewer) everything(s State) render.Text {
	blocks := []render.Text{render.Bold(v.Words.Say(i18n.AskAll))}
	for _, d := range s.Request.Ask.Details {
		blocks = append(blocks, render.Join(render.Bold(oneLined(d.Name)), render.Plain("\n"), pre(d.Text, "")))
	}
	return chat.Lines(append(blocks, Viewer{Words: v.Words}.rules(s, math.MaxInt, math.MaxInt)...)...)
}
