package why

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/attention"
	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/each"
	"ccbot/internal/glyph"
	"ccbot/port"
)

// Deps holds the dependencies of the feature.
type Deps struct {
	Chat             *chat.Chat
	Resume, Continue func(ctx context.Context, q chat.Resume) (back bool, err error)
	// Retry tries again to end what is left of a session.
	Retry func(t chat.Tap, r port.Session) (chat.Answer, error)
	// Crash returns how the agent of a session crashed; empty: it did not.
	Crash func(p chat.Phrases, r port.Session) render.Text
}

// why shows the history of sessions.
type why struct{ Deps }

// New returns the feature of a chat.
func New(d Deps) chat.Feature {
	w := &why{d}
	f := chat.Feature{Name: "why", Pages: map[string]chat.Page{page: {Draw: w.draw, Do: w.do}}}
	d.Chat.PageByName(&f, page, chat.AnySession)
	return f
}

const (
	page = "why"

	// shownChanges bounds the lines of a history, shownEvidence one line's evidence: together they
	// fit one message.
	shownChanges  = 10
	shownEvidence = 200
)

// view is the address of a page.
type view struct {
	Session uuid.UUID `json:"session"`
	Details bool      `json:"details,omitempty"` // the rules and the evidence
	Page    int       `json:"page,omitempty"`    // of these
}

func (v view) address() string { return chat.Address(page, v) }

// draw shows a session's history in plain sentences, newest last; [Details] leads to the rules and
// the evidence.
func (w *why) draw(ctx context.Context, v chat.Visit) (chat.Screen, error) {
	at := chat.ViewAt[view](v.Rest)
	r, ok := w.Chat.Book.Records.Get(at.Session)
	p := w.Chat.In(v.To)
	if !ok {
		return chat.Screen{Text: render.Plain(p.Say(i18n.SessionGone))}, nil
	}
	history, err := w.Chat.Book.Records.History(ctx, r.ID)
	if err != nil {
		return chat.Screen{}, err
	}
	if at.Details {
		return noted(p, r, history, at.Page), nil
	}
	head := i18n.WhyTitle
	if len(history) == 0 {
		head = i18n.WhyNothing
	}
	text := []render.Text{p.Text(head, i18n.Args{"Name": r.Name, "State": p.StateWithAge(r)})}
	if crash := w.Crash(p, r); r.Resumable && !crash.Blank() { // the state alone does not show a crash
		text = append([]render.Text{crash}, text...)
	}
	said := Sentences(p, history, v.By, func(by int64) string { return w.Chat.Who(v.To, by) })
	if left := len(said) - shownChanges; left > 0 {
		text, said = append(text, render.Plain("…")), said[left:]
	}
	text = append(text, each.As(said, render.Plain)...)
	screen := chat.Screen{Session: r.ID, Text: chat.Lines(text...), Options: options(p, r, len(history) > 0)}
	if r.Loop != nil {
		looped := chat.Lines(render.Plain(attention.Loop(p, r.Loop)), render.Plain(attention.LoopReason(p, *r.Loop)))
		screen.Text = chat.Paragraphs(screen.Text, looped)
	}
	screen.Text = chat.Paragraphs(screen.Text, render.Plain(attention.Scheduled(p, r)))
	if cut := p.InterruptionText(r.Interruption); !cut.Blank() {
		screen.Text = chat.Paragraphs(screen.Text, cut)
	}
	return screen, nil
}

const (
	resume = "resume"
	retry  = "retry"
	goOn   = "continue"
)

// options returns the actions on a session, and the button for the details.
func options(p chat.Phrases, r port.Session, known bool) (rows [][]card.Option) {
	var acts []card.Option
	switch {
	case r.State == port.StateCleanupFailed:
		acts = append(acts, p.Option(i18n.ButtonRetry, retry, ""))
	case r.Resumable:
		acts = append(acts, p.Option(i18n.ButtonResume, resume, outbox.Primary))
	}
	if r.Interruption != nil {
		acts = append(acts, p.Option(i18n.ButtonContinue, chat.OfLaunch(goOn, r), ""))
	}
	if known {
		acts = append(acts, p.Option(i18n.ButtonDetails, chat.ToPage(view{Session: r.ID, Details: true}.address()), ""))
	}
	return chat.Rows(2, acts...)
}

// do carries out a button under the sentences. They are the links of other messages.
func (w *why) do(_ context.Context, v chat.Visit, what string) (chat.Answer, string, error) {
	id := chat.ViewAt[view](v.Rest).Session
	r, ok := w.Chat.Book.Records.Get(id)
	t := chat.Tap{From: v.By, To: v.To}
	q, _ := w.Chat.Accepted(port.Restore{Session: id}, t)
	var a chat.Answer
	var err error
	switch {
	case !ok:
	case what == retry && r.State == port.StateCleanupFailed:
		a, err = w.Retry(t, r)
	case what == resume:
		a.Then = func(ctx context.Context) error { _, err := w.Resume(ctx, q); return err }
	case what == chat.OfLaunch(goOn, r):
		a.Then = func(ctx context.Context) error { _, err := w.Continue(ctx, q); return err }
	}
	return a, "", err
}

// Sentences returns a history in sentences, each with its time: the notes before and after one
// event are one sentence. who names a person for a place that others read too.
func Sentences(p chat.Phrases, history []port.Change, reader int64, who func(by int64) string) (all []string) {
	last := ""
	for i, c := range history {
		if i > 0 && c.Rule == "ended" && history[i-1].Rule == c.Rule && history[i-1].To == c.From {
			continue // the change before it has the reason
		}
		if text := sentence(p.Words, c, reader, who(c.By)); text != "" && text != last {
			all, last = append(all, p.Moment(c.At)+" "+text), text
		}
	}
	return all
}

// sentence is the sentence about a change. A mere note by an unknown rule has none.
func sentence(words i18n.Words, c port.Change, reader int64, who string) string {
	rule, state := string(c.Rule), string(c.To)
	switch rule {
	case "stop":
		if rule += howEnded(c, reader); who != "" {
			rule = "stop.by"
		}
	case "ended":
		rule += howEnded(c, reader)
	case "stopped":
		rule += "." + state
	case "chat.adopt":
		rule = "adopt"
	case "resume.current_session_active": // its own agent has begun
	case "resume.resumed_same_agent_session":
		rule = "recovery.take_over"
	case "resume.current_session_followed":
		rule = "resume.followed"
	default:
		if strings.HasPrefix(rule, "resume.") {
			rule = "resume.seen"
		}
	}
	key := i18n.ChangeKey.Of(rule)
	switch text := words.Say(key, i18n.Args{"Signal": c.Signal, "Status": c.Status, "Person": who}); {
	case text != string(key):
		return text
	case c.From != c.To: // a record may be of a later program
		return words.Say(i18n.SaidBecame, i18n.Args{"State": words.Say(i18n.StateKey.Of(state))})
	}
	return ""
}

// howEnded returns the end of the rule of a sentence: the person or the cause. It is empty if that
// is unknown.
func howEnded(c port.Change, reader int64) string {
	switch {
	case c.By != 0 && c.By == reader:
		return ".you"
	case c.By != 0:
		return ".other"
	case c.Signal != 0:
		return ".signal"
	case c.Status != 0:
		return ".status"
	}
	return ""
}

// noted is a page of the whole history with its rules and evidence: page 0 is the newest, its last
// line too.
func noted(p chat.Phrases, r port.Session, history []port.Change, page int) chat.Screen {
	page = min(max(page, 0), max(len(history)-1, 0)/shownChanges)
	last := len(history) - page*shownChanges
	first := max(0, last-shownChanges)
	text := p.Text(i18n.WhyDetails, i18n.Args{"Name": r.Name})
	for _, c := range history[first:last] {
		text = render.Join(text, changeLine(p, c))
	}
	text = chat.Paragraphs(text, p.Text(i18n.AttachHint, i18n.Args{"Command": render.Code("ccbot why " + r.ID.String())}))
	turns := card.Turns(page, first > 0, func(to int) card.Option {
		return card.Option{Value: chat.ToPage(view{Session: r.ID, Details: true, Page: to}.address())}
	})
	screen := chat.Screen{Session: r.ID, Text: text, Back: view{Session: r.ID}.address()}
	if len(turns) > 0 {
		screen.Options = [][]card.Option{turns}
	}
	return screen
}

// changeLine is one change: when, from which state to which, by which rule, and on what evidence. A
// note is foreign text: it is code, so that nothing in it can be tapped.
func changeLine(p chat.Phrases, c port.Change) render.Text {
	state := func(s port.State) string { return p.Say(i18n.StateKey.Of(string(s))) }
	what := "•"
	switch {
	case c.From == "":
		what = "→ " + state(c.To)
	case c.From != c.To:
		what = state(c.From) + " → " + state(c.To)
	}
	line := []render.Text{render.Plain("\n" + p.Day(c.At) + " " + p.Seconds(c.At) + " " + what)}
	for _, noted := range []string{string(c.Rule), c.Why} {
		if noted = chat.Head(strings.TrimSpace(glyph.Name(noted)), shownEvidence); noted != "" {
			line = append(line, render.Plain(" "), render.Code(noted))
		}
	}
	return render.Join(line...)
}
