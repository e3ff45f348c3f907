package sessions

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/port/prompts"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// GoingOn is how an interrupted session goes on.
type GoingOn struct {
	// Add puts a prompt into the inbox, durably; fresh is false where its key was ever there.
	Add  func(e inbox.Entry) (fresh bool, err error)
	Keep prompts.Queue
	Text string // of the prompt
}

// Continue has a session go on after its interruption: a prompt that says so waits for the agent,
// and the session is resumed where it is over. However often it is asked for, and whatever crashes
// in between, it is one prompt.
func (s *Sessions) Continue(ctx context.Context, q chat.Resume) (back bool, err error) {
	r := q.Session
	if r.Interruption == nil {
		return true, s.chat.For(uuid.Nil).Post(ctx, q.To, s.chat.In(q.To).Text(i18n.ContinueOver, i18n.Args{"Name": r.Name}), nil)
	}
	typed, class, _ := prompts.Normalise(s.GoOn.Text)
	e := inbox.Entry{Key: inbox.PromptKey(r.Interruption.Prompt), State: inbox.Held, Session: r.ID,
		Conversation: q.To, Text: typed, Class: string(class)}
	fresh, err := s.GoOn.Add(e)
	if err != nil {
		return false, err
	}
	s.chat.At("continue-held")
	switch err := s.GoOn.Keep.Keep(ctx, r.ID, e.Key); {
	case chat.IsGone(err): // it is typed
		fresh = false
	case err != nil:
		return false, err
	}
	said := chat.Lines(s.chat.In(q.To).Text(i18n.Continues, i18n.Args{"Name": r.Name}), render.Plain(typed))
	now, _ := s.chat.Book.Records.Get(r.ID)
	switch {
	case now.State != views.Running && fresh && !q.Many:
		q.Before = chat.Lines(q.Before, said)
		return s.Resume(ctx, q)
	case now.State != views.Running:
		return s.Resume(ctx, q)
	case q.Many:
		return true, s.chat.Book.MoveTo(ctx, q.To, now)
	case fresh:
		err = s.chat.For(r.ID).Post(ctx, q.To, said, nil)
	}
	return true, errors.Join(err, s.chat.Book.Use(ctx, q.To, now))
}

// Interrupted is a message's part about an interruption, with what [Continue] would send; blank
// where nothing was interrupted.
func (s *Sessions) Interrupted(p chat.Phrases, i *views.Interruption) render.Text {
	if i == nil {
		return render.Text{}
	}
	return render.Join(p.InterruptionText(i), render.Plain("\n"), p.ContinueText(s.GoOn.Text))
}

// continueLink has a session go on after its interruption; none where there is nothing to go on with.
func continueLink(p chat.Phrases, r views.Session) []card.Option {
	if r.Interruption == nil {
		return nil
	}
	return []card.Option{p.Option(i18n.ButtonContinue, chat.OfLaunch(chat.GoOnLink, r), "")}
}
