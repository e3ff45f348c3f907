package sessions

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/port/control"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
)

const (
	whyPage = "why"
	details = "details"

	// shownChanges bounds the lines of a history, shownEvidence one line's evidence: together they fit
	// one message.
	shownChanges  = 10
	shownEvidence = 200
)

func whyAddress(session uuid.UUID, more ...string) string {
	return strings.Join(append([]string{whyPage, session.String()}, more...), "/")
}

// drawWhy shows what happened to a session in plain sentences, newest last; behind [Details] stand the rules and the
// evidence.
func (s *Sessions) drawWhy(_ context.Context, v chat.Visit) (chat.Screen, error) {
	parts := append(strings.Split(v.Rest, "/"), "", "")
	id, _ := uuid.Parse(parts[0])
	r, ok := s.chat.Book.Records.Get(id)
	p := s.chat.In(v.To)
	if !ok {
		return chat.Screen{Text: render.Plain(p.Say(i18n.SessionGone))}, nil
	}
	if parts[1] == details {
		page, _ := strconv.Atoi(parts[2])
		return whyDetails(p, r, s.chat.Book.Records.History(r.ID), page), nil
	}
	history := s.chat.Book.Records.History(r.ID)
	head := i18n.WhyTitle
	if len(history) == 0 {
		head = i18n.WhyNothing
	}
	text := []render.Text{p.Text(head, i18n.Args{"Name": r.Name, "State": p.AgedState(r)})}
	if word, args := exitOf(r); r.Resumable && word != i18n.Ended { // the state alone says nothing of a crash
		text = append([]render.Text{p.Text(word, args)}, text...)
	}
	said := sentences(p.Words, history, v.By)
	if left := len(said) - shownChanges; left > 0 {
		text, said = append(text, render.Plain("…")), said[left:]
	}
	for _, one := range said {
		text = append(text, render.Plain(p.Moment(one.at)+" "+one.text))
	}
	screen := chat.Screen{Session: r.ID, Text: chat.Lines(text...), Options: whyOptions(p, r, len(history) > 0)}
	if cut := s.interrupted(p, r.Interruption); !cut.Blank() {
		screen.Text = chat.Paragraphs(screen.Text, cut)
	}
	return screen, nil
}

const (
	whyResume   = "resume"
	whyRetry    = "retry"
	whyContinue = "continue"
)

// whyOptions are what can be done about a session, and the way to the details.
func whyOptions(p chat.Phrases, r views.Session, noted bool) (rows [][]card.Option) {
	var acts []card.Option
	switch {
	case isNotClean(r):
		acts = append(acts, p.Option(i18n.ButtonRetry, chat.Does(whyRetry), ""))
	case r.Resumable:
		acts = append(acts, p.Option(i18n.ButtonResume, chat.Does(whyResume), outbox.Primary))
	}
	if r.Interruption != nil {
		acts = append(acts, p.Option(i18n.ButtonContinue, chat.Does(chat.OfLaunch(whyContinue, r)), ""))
	}
	if noted {
		acts = append(acts, p.Option(i18n.ButtonDetails, chat.ToPage(whyAddress(r.ID, details)), ""))
	}
	return chat.Rows(2, acts...)
}

// doWhy does what a button under the sentences says. They are the links of other messages.
func (s *Sessions) doWhy(_ context.Context, v chat.Visit, what string) (chat.Answer, string, error) {
	id, _ := uuid.Parse(v.Rest)
	r, ok := s.chat.Book.Records.Get(id)
	t := chat.Tap{From: v.By, To: v.To}
	q, _ := s.chat.Accepted(control.Restore{Session: id}, t)
	var a chat.Answer
	var err error
	switch {
	case !ok:
	case what == whyRetry && isNotClean(r):
		a, err = s.retry(t, r)
	case what == whyResume:
		a.Then = func(ctx context.Context) error { _, err := s.Resume(ctx, q); return err }
	case what == chat.OfLaunch(whyContinue, r):
		a.Then = func(ctx context.Context) error { _, err := s.Continue(ctx, q); return err }
	}
	return a, "", err
}

// sentence says what happened once.
type sentence struct {
	at   time.Time
	text string
}

// sentences are a history as a person tells it: what was noted before and after one thing is one sentence.
func sentences(words i18n.Words, history []views.Change, reader int64) (all []sentence) {
	for _, c := range history {
		text := said(words, c, reader)
		if text == "" || len(all) > 0 && all[len(all)-1].text == text {
			continue
		}
		all = append(all, sentence{c.At, text})
	}
	return all
}

// said is the sentence about a change. What is only noted by a rule that is not known has none.
func said(words i18n.Words, c views.Change, reader int64) string {
	rule, state := c.Rule, string(c.To)
	switch rule {
	case "stop":
		rule += whoStopped(c.Why, reader)
	case "stopped":
		rule += "." + state
	case "chat.adopt":
		rule = "adopt"
	default:
		if strings.HasPrefix(rule, "resume.") {
			rule = "resume.seen"
		}
	}
	key := i18n.SaidKey(rule)
	switch text := words.Say(key); {
	case text != string(key):
		return text
	case c.From != c.To: // a record may be of a later program
		return words.Say(i18n.SaidBecame, i18n.Args{"State": words.Say(i18n.StateKey(state))})
	}
	return ""
}

// askedBy is how the chat notes who has asked for an end.
var askedBy = regexp.MustCompile(`asked for by (-?\d+)`)

// whoStopped says who wanted an end, as the end of the rule of a sentence; empty: it is not known.
func whoStopped(why string, reader int64) string {
	switch who := askedBy.FindStringSubmatch(why); {
	case who != nil && who[1] == strconv.FormatInt(reader, 10):
		return ".you"
	case who != nil:
		return ".other"
	case strings.HasPrefix(why, "nothing has happened for "):
		return ".idle"
	}
	return ""
}

// whyDetails is a page of the whole history with its rules and evidence: page 0 is the newest, its last line too.
func whyDetails(p chat.Phrases, r views.Session, history []views.Change, page int) chat.Screen {
	page = min(max(page, 0), max(len(history)-1, 0)/shownChanges)
	last := len(history) - page*shownChanges
	first := max(0, last-shownChanges)
	text := p.Text(i18n.WhyDetails, i18n.Args{"Name": r.Name})
	for _, c := range history[first:last] {
		text = render.Join(text, changeLine(p.Words, c))
	}
	command := "ccbot why " + r.ID.String()
	text = chat.Paragraphs(text, chat.Marked(p.Say(i18n.AttachHint, i18n.Args{"Command": command}), command))
	turns := chat.Turns(page, first > 0, func(to int) card.Option {
		return card.Option{Value: chat.ToPage(whyAddress(r.ID, details, strconv.Itoa(to)))}
	})
	screen := chat.Screen{Session: r.ID, Text: text, Back: whyAddress(r.ID)}
	if len(turns) > 0 {
		screen.Options = [][]card.Option{turns}
	}
	return screen
}

// changeLine is one change: when, from which state to which, by which rule, and on what evidence. What
// was noted is foreign text: as code nothing in it can be tapped.
func changeLine(words i18n.Words, c views.Change) render.Text {
	state := func(s views.State) string { return words.Say(i18n.StateKey(string(s))) }
	what := "•"
	switch {
	case c.From == "":
		what = "→ " + state(c.To)
	case c.From != c.To:
		what = state(c.From) + " → " + state(c.To)
	}
	line := []render.Text{render.Plain("\n" + c.At.Local().Format(time.DateTime) + " " + what)}
	for _, noted := range []string{c.Rule, c.Why} {
		if noted = chat.Head(strings.TrimSpace(glyph.Name(noted)), shownEvidence); noted != "" {
			line = append(line, render.Plain(" "), render.Code(noted))
		}
	}
	return render.Join(line...)
}
