package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/port/news"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// ends are the ends of sessions that people ask for.
type ends struct {
	chat      *chat.Chat
	book      *conversation.Book
	words     i18n.Words
	life      Life
	questions chat.Cards[end]
}

// end is what a question asks: whether to end one launch of a session.
type end struct {
	Session uuid.UUID   `json:"session"`
	Launch  time.Time   `json:"launch"` // what was asked about one launch is not confirmed for a later one
	Final   views.State `json:"final"`
}

// askKill asks whether to end a session and archive it.
func (e *ends) askKill(ctx context.Context, in chat.Incoming, arg string) error {
	return e.askEnd(ctx, in, arg, views.Archived, i18n.KillConfirm, i18n.ButtonKill)
}

// askDone asks whether to end a session as completed.
func (e *ends) askDone(ctx context.Context, in chat.Incoming, arg string) error {
	return e.askEnd(ctx, in, arg, views.Completed, i18n.DoneConfirm, i18n.ButtonDone)
}

func (e *ends) askEnd(ctx context.Context, in chat.Incoming, arg string, final views.State,
	question, word i18n.Key) error {
	r, ok, err := e.book.FindFor(in.Message, arg, isEndable)
	if err != nil {
		return err
	}
	if !ok {
		return tellNone(ctx, e.chat, in, arg)
	}
	look := card.Look{To: in.To, Session: r.ID, Text: render.Plain(e.words.Say(question, i18n.Args{"Name": r.Name})),
		Options: e.chat.Confirm(word, "end", in.From)}
	return e.questions.Post(ctx, look, end{r.ID, r.StartedAt, final})
}

// tap archives a session that a person confirmed. The receipt comes as news.
func (e *ends) tap(ctx context.Context, t chat.Tap, asked end) (chat.Answer, error) {
	r, ok := e.book.Records.Get(asked.Session)
	if !ok || !asked.Launch.Equal(r.StartedAt) || !isEndable(r) {
		return e.questions.Over(ctx, t)
	}
	return chat.Do(func(ctx context.Context) error {
		if err := e.questions.End(ctx, t, e.words.Say(i18n.Archiving, i18n.Args{"Name": r.Name})); err != nil {
			return err
		}
		return e.archive(ctx, t, r, asked.Final, "asked for")
	})
}

// heard closes the questions about a session that is over.
func (e *ends) heard(ctx context.Context, n news.Note) (err error) {
	for _, c := range e.questions.List() {
		if c.Payload.Session == n.Session.ID && !isEndable(n.Session) {
			err = errors.Join(err, e.questions.Close(ctx, c.Key, render.Text{}))
		}
	}
	return err
}

// followRetry is a tap on a link to what is left of a session.
func (e *ends) followRetry(_ context.Context, t chat.Tap, r views.Session) (chat.Answer, error) {
	if len(t.Args) != 2 || !isNotClean(r) { // a link of an older ccbot names no launch
		return e.chat.Stale(t)
	}
	return e.retry(t, r)
}

// retry tries again to end what is left of a session. The receipt comes as news; the message stays
// as it is.
func (e *ends) retry(t chat.Tap, r views.Session) (chat.Answer, error) {
	return chat.Answer{Text: e.words.Say(i18n.Retrying), Then: func(ctx context.Context) error {
		return e.archive(ctx, t, r, cmp.Or(r.Final, views.Archived), "another try, asked for")
	}}, nil
}

// archive ends a session, and shows it first where the person tapped: the receipt comes to where
// the session is shown.
func (e *ends) archive(ctx context.Context, t chat.Tap, r views.Session, final views.State,
	why string) error {
	if err := e.book.MoveTo(ctx, t.To, r); err != nil {
		return err
	}
	if err := e.life.Archive(ctx, r.ID, final, fmt.Sprintf("%s by %d", why, t.From)); err != nil {
		return e.chat.Explain(ctx, t.To, e.chat.Failure(r, err))
	}
	return nil
}
