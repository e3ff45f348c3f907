package sessions

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// askKill asks whether to end a session and archive it.
func (s *Sessions) askKill(ctx context.Context, in chat.Incoming, arg string) error {
	return s.askEnd(ctx, in, arg, "kill", i18n.KillConfirm, i18n.ButtonKill)
}

// askDone asks whether to end a session as completed.
func (s *Sessions) askDone(ctx context.Context, in chat.Incoming, arg string) error {
	return s.askEnd(ctx, in, arg, "done", i18n.DoneConfirm, i18n.ButtonDone)
}

// askEnd asks first; only the person who asked may confirm, so the id of that person is in the
// button.
func (s *Sessions) askEnd(ctx context.Context, in chat.Incoming, arg, verb string,
	question, word i18n.Key) error {
	r, ok, err := s.book.FindFor(in.Message, arg, isEndable)
	if err != nil {
		return err
	}
	if !ok {
		return tellNone(ctx, s.chat, in, arg)
	}
	text := render.Plain(s.words.Say(question, i18n.Args{"Name": r.Name}))
	yes := fmt.Sprintf("%s:%s:%d:%s", verb, chat.Ref(r.ID), in.From, launchOf(r))
	return s.chat.For(r.ID).Post(ctx, in.To, text,
		chat.Rows(2, s.chat.Button(word, yes, outbox.Danger), s.chat.CancelButton(in.From)))
}

// launchOf names one launch of a session: what was asked about one launch is not confirmed for a
// later one.
func launchOf(r session.Record) string { return strconv.FormatInt(r.StartedAt.Unix(), 36) }

// tapEnd archives a session that a person confirmed. The receipt comes as news.
func (s *Sessions) tapEnd(final session.State) chat.OnTap {
	return func(_ context.Context, t chat.Tap) (chat.Answer, error) {
		r, ok := s.chat.TappedSession(t)
		switch {
		case !ok:
			return s.chat.Stale(t)
		case !t.IsAsker(1):
			return chat.Answer{Text: s.words.Say(i18n.NotForYou)}, nil
		case len(t.Args) != 3 || t.Args[2] != launchOf(r) || !isEndable(r):
			return s.chat.Stale(t)
		}
		return chat.Do(func(ctx context.Context) error {
			s.chat.Progress(ctx, t, s.words.Say(i18n.Archiving, i18n.Args{"Name": r.Name}))
			return s.archive(ctx, t, r, final, "asked for")
		})
	}
}

// tapRetry tries again to end what is left of a session. The receipt comes as news; the message
// stays as it is, because it may be the list.
func (s *Sessions) tapRetry(_ context.Context, t chat.Tap) (chat.Answer, error) {
	r, ok := s.chat.TappedSession(t)
	if !ok || r.State != session.CleanupFailed {
		return s.chat.Stale(t)
	}
	return chat.Answer{Text: s.words.Say(i18n.Retrying), Then: func(ctx context.Context) error {
		return s.archive(ctx, t, r, cmp.Or(r.Final, session.Archived), "another try, asked for")
	}}, nil
}

// archive ends a session, and shows it first where the person tapped: the receipt comes to where
// the session is shown.
func (s *Sessions) archive(ctx context.Context, t chat.Tap, r session.Record, final session.State,
	why string) error {
	if err := s.book.MoveTo(ctx, t.To, r); err != nil {
		return err
	}
	if err := s.life.Archive(ctx, r.ID, final, fmt.Sprintf("%s by %d", why, t.From)); err != nil {
		return s.chat.Explain(ctx, t.To, s.chat.AgentFailure(r, err))
	}
	return nil
}
