package sessions

import (
	"context"
	"math"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/glyph"
)

// What an option does with its session: its value is the word, a colon and the session's id; that
// of a retry goes on with a colon and the launch.
const (
	openWord  = "open"
	retryWord = "retry"
)

// list shows the sessions with a button each, and the windows that belong to none.
func (s *Sessions) list(ctx context.Context, in chat.Incoming, _ string) error {
	look, shown := s.look(ctx, in.To)
	return s.lists.Post(ctx, look, shown)
}

// look is the list as it is now.
func (s *Sessions) look(ctx context.Context, to address.Conversation) (card.Look, []chat.Window) {
	var lines, dirs []string
	var options []card.Option
	ended, now := 0, s.chat.Book.CurrentID(to)
	for _, r := range s.chat.Book.Records.List() {
		if r.Resumable {
			ended++
		}
		if !isEndable(r) {
			continue
		}
		lines, dirs = append(lines, s.listLine(ctx, r, r.ID == now)), append(dirs, s.chat.Short(r.Dir))
		options = append(options, s.listOption(r, r.ID == now))
	}
	text := s.chat.Words.Say(i18n.ListEmpty)
	if len(lines) > 0 {
		title := s.chat.Words.Say(i18n.ListTitle, i18n.Args{"Count": len(lines)})
		text = title + "\n" + strings.Join(lines, "\n")
	}
	if ended > 0 {
		text += "\n\n" + s.chat.Words.Say(i18n.ListArchived, i18n.Args{"Count": ended})
	}
	windows := s.windows.List(s.windows.All(ctx))
	return card.Look{To: to, Text: chat.Paragraphs(chat.Marked(text, dirs...), windows.Text),
		Options: append(chat.Rows(2, options...), windows.Options...)}, windows.Windows
}

func (s *Sessions) listLine(ctx context.Context, r views.Session, current bool) string {
	state := s.chat.Words.Say(i18n.StateKey(string(r.State)))
	switch {
	case r.State == views.Running:
		state = lookText(s.chat.Words, s.agents.Look(ctx, r.ID))
	case r.State == views.CleanupFailed && len(r.Failures) > 0:
		note := s.chat.FailureTexts(r)[0] // the first reason is enough here
		state = s.chat.Words.Say(i18n.Noted, i18n.Args{"What": state, "Note": note})
	}
	mark := "•"
	if current {
		mark = "✓"
	}
	what := state + s.chat.Words.Say(i18n.JoinParts) + s.chat.Short(r.Dir)
	args := i18n.Args{"What": glyph.Name(r.Name), "Said": what}
	return mark + " " + s.chat.Words.Say(i18n.Named, args)
}

// lookText says what an agent is doing, whether a person is at the agent's window, which model the
// agent has and how full its context is. The last two are known where the status line has told.
func lookText(words i18n.Words, l desk.Look) string {
	text := []string{words.Say(i18n.PhaseKey(string(l.Phase)))}
	switch l.Presence {
	case desk.Typing:
		text = append(text, words.Say(i18n.ListAtDesk))
	case desk.Attached:
		text = append(text, words.Say(i18n.ListAttached))
	}
	if l.Background && l.Phase == desk.Idle { // else it says nothing new
		text = append(text, words.Say(i18n.ListBackground))
	}
	if u := l.Usage; u != nil {
		if model := chat.Head(glyph.Name(u.Model), 24); model != "" {
			text = append(text, model)
		}
		if u.Context >= 0 {
			percent := i18n.Args{"Percent": int(math.Round(u.Context))}
			text = append(text, words.Say(i18n.ListContext, percent))
		}
	}
	return strings.Join(text, words.Say(i18n.JoinParts))
}

// listOption opens a session; of a session that is not cleaned up, the option tries that again.
func (s *Sessions) listOption(r views.Session, current bool) card.Option {
	name := glyph.Name(r.Name)
	if isNotClean(r) {
		args := i18n.Args{"What": s.chat.Words.Say(i18n.ButtonRetry), "Said": name}
		word := s.chat.Words.Say(i18n.Named, args)
		return card.Option{Text: word, Value: retryWord + ":" + r.ID.String() + ":" + chat.LaunchOf(r)}
	}
	if current {
		name = "✓ " + name
	}
	return card.Option{Text: name, Value: openWord + ":" + r.ID.String()}
}

// redrawList shows the list as it is now in the tapped message.
func (s *Sessions) redrawList(t chat.Tap) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		look, shown := s.look(ctx, t.To)
		parts := look.Text.Split(render.Limit)
		look.Text = parts[len(parts)-1] // the options stand under the last part
		return s.lists.Redraw(ctx, t.Card.Key, look, shown)
	}
}

// tapList does what an option of a list says.
func (s *Sessions) tapList(
	ctx context.Context, t chat.Tap, was []chat.Window) (chat.Answer, error) {
	word, rest, _ := strings.Cut(t.Card.Option, ":")
	if word != openWord && word != retryWord {
		return s.windows.Tap(t, was, s.redrawList(t))
	}
	named, launch, _ := strings.Cut(rest, ":")
	id, _ := uuid.Parse(named)
	r, ok := s.chat.Book.Records.Get(id)
	switch next := s.chat.Book.Successor(r); {
	case ok && word == retryWord && isNotClean(r) && chat.LaunchOf(r) == launch:
		return s.retry(t, r)
	case ok && word == openWord && isEndable(next):
		return s.open(ctx, t, next, s.redrawList(t))
	}
	return chat.Answer{Text: s.chat.Words.Say(i18n.StaleButton), Then: s.redrawList(t)}, nil
}

// followOpen opens a session from the notice that the session has answered. Of a session that is
// over only the answer is shown.
func (s *Sessions) followOpen(
	ctx context.Context, t chat.Tap, r views.Session) (chat.Answer, error) {
	spend := func(ctx context.Context) error { return s.chat.Spend(ctx, t) }
	return s.open(ctx, t, s.chat.Book.Successor(r), spend)
}

// open makes a session the current one before the tap is answered: a text that follows the tap goes
// to the session. Then the session is shown where the person tapped, and the tapped message is
// drawn.
func (s *Sessions) open(ctx context.Context, t chat.Tap, r views.Session,
	draw func(context.Context) error) (chat.Answer, error) {
	s.Recall(r, t.To) // before it is current: then its reader shows what is newer
	opened := chat.Answer{Text: "→ " + glyph.Name(r.Name), Then: draw}
	if !isEndable(r) {
		return opened, nil
	}
	opened.Then = func(ctx context.Context) error {
		if err := s.chat.Book.MoveTo(ctx, t.To, r); err != nil {
			return err
		}
		return draw(ctx)
	}
	return opened, s.chat.Book.MakeCurrent(ctx, t.To, r.ID)
}
