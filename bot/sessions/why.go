package sessions

import (
	"cmp"
	"context"
	"strings"
	"time"

	"ccbot/bot/chat"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
)

// shownChanges bounds the lines of a history, shownEvidence one line's evidence: together they fit
// one message.
const (
	shownChanges  = 10
	shownEvidence = 200
)

// why tells what happened to a session, newest last.
func (s *Sessions) why(ctx context.Context, in chat.Incoming, r views.Session) error {
	p := s.chat.In(in.To)
	history := s.chat.Book.Records.History(r.ID)
	head := i18n.WhyTitle
	if len(history) == 0 {
		head = i18n.WhyNothing
	}
	text := p.Text(head, i18n.Args{"Name": r.Name, "State": p.AgedState(r)})
	if word, args := exitOf(r); r.Resumable && word != i18n.Ended { // the state alone says nothing of a crash
		text = chat.Lines(p.Text(word, args), text)
	}
	if left := len(history) - shownChanges; left > 0 {
		command := "ccbot why " + r.ID.String()
		more := p.Say(i18n.WhyMore, i18n.Args{"Count": left, "Command": command})
		text = render.Join(text, chat.Marked("\n"+more, command))
		history = history[left:]
	}
	for _, c := range history {
		text = render.Join(text, changeLine(p.Words, c))
	}
	links := p.ResumeLink(r)
	if cut := s.interrupted(p, r.Interruption); !cut.Blank() {
		text = render.Join(text, render.Plain("\n\n"), cut)
		links = append(links, continueLink(p, r))
	}
	return s.chat.For(r.ID).Post(ctx, in.To, text, links)
}

// changeLine is one change: when, from which state to which, why, and on what evidence. What was
// noted is foreign text: as code nothing in it can be tapped.
func changeLine(words i18n.Words, c views.Change) render.Text {
	state := func(s views.State) string { return words.Say(i18n.StateKey(string(s))) }
	what := ""
	switch {
	case c.From == "":
		what = "→ " + state(c.To)
	case c.From != c.To:
		what = state(c.From) + " → " + state(c.To)
	}
	switch rule := i18n.RuleKey(c.Rule); {
	case words.Say(rule) == string(rule): // a record may be of a later program
		what = cmp.Or(what, "•")
	case what == "":
		what = "• " + words.Say(rule)
	default:
		what = words.Say(i18n.Named, i18n.Args{"What": what, "Said": words.Say(rule)})
	}
	line := "\n" + c.At.Local().Format(time.DateTime) + " "
	why := chat.Head(strings.TrimSpace(glyph.Name(c.Why)), shownEvidence)
	if why == "" {
		return render.Plain(line + what)
	}
	const evidence = "\x00" // is in none of our words
	noted := words.Say(i18n.Noted, i18n.Args{"What": what, "Note": evidence})
	before, after, _ := strings.Cut(noted, evidence)
	return render.Join(render.Plain(line+before), render.Code(why), render.Plain(after))
}
