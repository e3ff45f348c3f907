package ask

import (
	"slices"
	"strings"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/port/decisions"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/guard"
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

// short is a path with ~ in the place of the home directory.
func (v Viewer) short(path string) string {
	rest, ok := strings.CutPrefix(path, v.Home)
	if len(v.Home) < 2 || !ok || rest != "" && rest[0] != '/' {
		return path
	}
	return "~" + rest
}

// shown is how much of a request its message shows.
type shown struct {
	whole  bool // all of it
	tooBig bool // more than [Show all] sends
}

// judge looks at what the message shows without the home, as it is at a tap.
func judge(c Card) shown {
	if len(c.Request.Input) > maxInput {
		return shown{tooBig: true}
	}
	_, cut := first(Viewer{}.sheetOf(c).body, maxBody, maxLines)
	whole := !cut && !odd(c.Request.Input) && !hides(c.Request)
	return shown{whole, !whole && Viewer{}.everything(c.Request).Length() > maxAll}
}

// hides says that something around the body is clipped, or cannot be seen.
func hides(q Request) bool {
	unseen := func(s string, limit int) bool {
		_, cut := inUnits(oneLined(s), limit)
		return cut || glyph.Hides(s)
	}
	for _, g := range grantedBy(q) {
		if strings.TrimSpace(g.what) == "" || unseen(g.what, maxRule) {
			return true
		}
	}
	return unseen(q.Tool, maxWord) || unseen(q.Subagent, maxWord) || unseen(q.Cwd, maxPath) ||
		len(grantedBy(q)) > maxRules
}

func (j shown) allowable(c Card) bool { return j.whole || c.AllShown && !j.tooBig }

// allowable says that a person may allow the request: the message, or [Show all], showed all of it.
func allowable(c Card) bool { return judge(c).allowable(c) }

// View is the message of a card; name is the session's.
func (v Viewer) View(c Card, name string) View {
	j := judge(c)
	if len(c.Request.Input) > maxInput { // nobody waits until megabytes are laid out
		c.Request.Input = beginnings(c.Request.Input)
	}
	s := v.sheetOf(c)
	name, _ = inUnits(oneLined(name), maxName)
	title := render.Bold(v.Words.Say(s.title, s.args, i18n.Args{"Name": name}))
	blocks := []render.Text{title}
	if c.IsOver() { // the chat stays calm
		body, cut := first(s.body, overGlance, overLines)
		if cut {
			body = render.Join(body, render.Plain("…"))
		}
		blocks = append(blocks, body)
	} else {
		blocks = append(append(blocks, v.cut(s.body)), v.foot(c)...)
	}
	text := chat.Paragraphs(chat.Lines(blocks...), v.status(c, j))
	return View{Text: text, Options: v.options(c, j)}
}

// drawn is what draw gives. It draws what an agent has written, so a mistake in it must not end the
// bot, at each start again: then the message says where the request can be decided.
func (v Viewer) drawn(name string, draw func(v Viewer, name string) View) (seen View, err error) {
	err = guard.Call(func() error { seen = draw(v, name); return nil })
	if err != nil {
		args := i18n.Args{"What": render.Bold(glyph.Name(name)), "Said": v.Words.Say(i18n.AskAtDesk)}
		seen = View{Text: render.Join(render.Plain(chat.Warning), chat.Phrases{Words: v.Words}.Text(i18n.Named, args))}
	}
	return seen, err
}

// cut shortens a body that does not fit to a glance and says how much more there is.
func (v Viewer) cut(body render.Text) render.Text {
	if _, cut := first(body, maxBody, maxLines); !cut {
		return body
	}
	seen, _ := first(body, glance, glanceLines)
	more := i18n.Args{"Count": body.Length() - seen.Length()}
	return chat.Lines(seen, render.Italic(v.Words.Say(i18n.AskMoreCharacters, more)))
}

// first is the part of a body within a number of units and lines, and says whether that is not all.
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
	if parts := body.Split(limit); len(parts) > 0 {
		part = parts[0]
	}
	return part, true
}

// foot says where and for whom, and what "for this session" would allow.
func (v Viewer) foot(c Card) (list []render.Text) {
	q := c.Request
	if _, ok := questionsOf(q); !ok && q.IsQuestion() {
		list = append(list, render.Plain(v.Words.Say(i18n.AskAtDesk)))
	}
	if cwd, _ := inUnits(oneLined(v.short(q.Cwd)), maxPath); cwd != "" {
		list = append(list, chat.Marked(v.Words.Say(i18n.AskIn, i18n.Args{"Dir": cwd}), cwd))
	}
	if q.SubagentID != "" || q.Subagent != "" {
		by := v.Words.Say(i18n.AskSubagent)
		if kind, _ := inUnits(oneLined(q.Subagent), maxWord); kind != "" {
			by = v.Words.Say(i18n.Noted, i18n.Args{"What": by, "Note": kind})
		}
		list = append(list, render.Plain(by))
	}
	if c.State == StateOpen {
		list = append(list, v.rules(q, maxRules, maxRule)...)
	}
	// A rule that allows has nothing asked, so it says nothing of what is asked.
	isRule := func(a answerer) bool { return a == decisions.AnswersByRule }
	if others := slices.DeleteFunc(slices.Clone(c.Project), isRule); len(others) > 0 {
		list = append(list, render.Plain(chat.ProjectAnswers(v.Words, others)))
	}
	return list
}
