package sessions

import (
	"fmt"
	"math"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"ccbot/bot/chat"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/phase"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
)

// What a phone shows in one line, in columns of a terminal: of our words, and of code.
const (
	lineRoom = 36
	codeRoom = 32
)

// need says where in a list a session stands.
type need int

const (
	needsPerson need = iota // a person has to answer it
	works
	rests
)

// entry is what a list says of a session in two lines: what it does, and what it was asked last.
type entry struct {
	need
	sign    string
	current bool
	name    string
	state   string
	more    []string // what is said besides, as far as there is room
	below   string
	quiet   bool // it may be ended with the idle ones
}

// entryOf is what a list says of a session; l is a look at one that runs.
func (s *Sessions) entryOf(p chat.Phrases, r views.Session, l desk.Look, current bool) entry {
	e := entry{need: works, sign: "⏳", current: current, name: chat.ShownName(r.Name), state: p.StateText(r)}
	switch {
	case r.State == views.Running:
		e.below = firstLine(l.Asked)
		e.need, e.sign, e.state = doing(p, l, s.Idle.Asks(r.ID))
		e.more, e.quiet = besides(p, r.Mode, l), s.Idle.Spared(p, r, l) == ""
		if at := p.AtWindow(l); len(at) > 0 {
			e.state += " · " + at[0]
		}
		if mark, known := s.chat.Book.ReadMarkOf(r.Conversation, r.ID); known && mark.Since != nil {
			e.more = append([]string{p.Say(i18n.ListUnread)}, e.more...)
		}
	case isNotClean(r):
		e.need, e.sign = rests, "⚠"
		if len(r.Failures) > 0 {
			note := p.FailureTexts(r)[0] // the first reason is enough here
			e.state = p.Say(i18n.Noted, i18n.Args{"What": e.state, "Note": note})
		}
	}
	if e.below = ansi.Truncate(e.below, codeRoom, "…"); e.below == "" {
		e.below = s.chat.ShortTail(r.Dir) // a name in it stays whole
	}
	return e
}

// firstLine is the first line of a text in which something can be seen.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(chat.Visible(line)); !render.Plain(line).Blank() {
			return line
		}
	}
	return ""
}

// doing is the sign and the words of what an agent does; asks says that the chat has a question about it.
func doing(p chat.Phrases, l desk.Look, asks bool) (n need, sign, state string) {
	n, sign, state = rests, "💤", p.NowText(l.Now)
	switch {
	case l.Now.Phase.Waiting() && l.Now.What != "":
		return needsPerson, "❗", p.AskedText(l.Now.What)
	case l.Now.Phase.Waiting():
		return needsPerson, "❗", state
	case asks:
		return needsPerson, "❗", p.Words.Say(i18n.ListWaits)
	case l.Now.Works():
		return works, "⏳", state
	case l.Now.Phase == phase.Unknown:
		sign = "•"
	case l.Now.Phase != phase.Idle:
		sign = "⚠"
	}
	return n, sign, state
}

// besides says that an agent asks for no permission, how full its context is, what it has cost, and its
// model. The last three are known where the status line has told.
func besides(p chat.Phrases, mode string, l desk.Look) []string {
	var text []string
	if mode == "bypass" {
		text = append(text, mode)
	}
	if u := l.Usage; u != nil {
		if u.Context >= 0 {
			text = append(text, p.Words.Say(i18n.ListContext, i18n.Args{"Percent": int(math.Round(u.Context))}))
		}
		if u.Cost >= 0.005 { // else it says $0.00
			text = append(text, fmt.Sprintf("$%.2f", u.Cost))
		}
		if model := chat.Head(glyph.Name(u.Model), 24); model != "" {
			text = append(text, model)
		}
	}
	return text
}

// text is the entry in two lines. As code nothing in what somebody has written can be tapped.
func (e entry) text() render.Text {
	before := e.sign + " "
	if e.current {
		before += "✓ "
	}
	said, room := " · "+e.state, lineRoom-ansi.StringWidth(before+e.name)
	for _, one := range e.more {
		if next := said + " · " + one; ansi.StringWidth(next) <= room {
			said = next
		}
	}
	return render.Join(render.Plain(before), render.Bold(e.name), render.Plain(said+"\n"),
		render.Code(e.below))
}
