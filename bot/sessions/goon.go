package sessions

import (
	"context"

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
		return true, s.chat.Say(ctx, q.To, s.chat.Words.Say(i18n.ContinueOver, i18n.Args{"Name": r.Name}))
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
	if fresh && !q.Many {
		text := render.Join(s.continues(r.Name), chat.Quoted(typed))
		if err := s.chat.For(r.ID).Post(ctx, q.To, text, nil); err != nil {
			return false, err
		}
	}
	now, ok := s.chat.Book.Records.Get(r.ID)
	if q.Many = true; ok && now.State == views.Running {
		return true, s.chat.Book.MoveTo(ctx, q.To, now)
	}
	if back, err = s.Resume(ctx, q); err != nil || !back {
		return back, err
	}
	return true, s.chat.Book.SettleCurrent(ctx, q.To, []views.Session{r})
}

func (s *Sessions) continues(name string) render.Text {
	return render.Plain(s.chat.Words.Say(i18n.Continues, i18n.Args{"Name": name}) + "\n")
}

// followContinue is a tap on the link to a session that is to go on.
func (s *Sessions) followContinue(
	_ context.Context, t chat.Tap, r views.Session) (chat.Answer, error) {
	q, _ := s.chat.Accepted(chat.Offer{Session: r.ID}, t)
	return chat.Do(func(ctx context.Context) error {
		if back, err := s.Continue(ctx, q); err != nil || !back {
			return err
		}
		return s.chat.Spend(ctx, t)
	})
}

// interrupted is a message's part about an interruption, with what [Continue] would send; blank
// where nothing was interrupted.
func (s *Sessions) interrupted(i *views.Interruption) render.Text {
	if i == nil {
		return render.Text{}
	}
	return render.Join(s.chat.InterruptionText(i), render.Plain("\n"), s.chat.ContinueText(s.GoOn.Text))
}
