package sessions

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/port"
)

// End is a wish to end one launch of a session.
type End struct {
	Session uuid.UUID  `json:"session"`
	Launch  time.Time  `json:"launch"` // a later one is not ended
	Final   port.State `json:"final"`
}

// AskEnd is a command that asks whether to end a session.
func (s *Sessions) AskEnd(final port.State, question, word i18n.Key) chat.OnSession {
	return func(ctx context.Context, in chat.Incoming, r port.Session) error {
		p := s.chat.In(in.To)
		content := card.Content{To: in.To, Session: r.ID, Options: p.Confirm(word, "end", in.From)}
		content.Text = p.Text(question, i18n.Args{"Name": r.Name})
		looks, _ := s.Agents.Inspect(ctx, r.ID) // what is unknown is not named
		now := looks[r.ID]
		now.Background = now.Commands > 0
		if beside := p.Beside(now); len(beside) > 0 {
			content.Text = chat.Lines(content.Text, p.Text(i18n.EndsToo, i18n.Args{"What": strings.Join(beside, p.Say(i18n.JoinParts))}))
		}
		return s.ends.Post(ctx, content, End{r.ID, r.StartedAt, final})
	}
}

// KeepOpen withdraws the questions in a place about the end of a session.
func (s *Sessions) KeepOpen(ctx context.Context, at address.Conversation, session uuid.UUID) (err error) {
	for _, c := range s.ends.List() {
		if c.Content.To == at && c.Payload.Session == session {
			err = errors.Join(err, s.ends.Close(ctx, c.Key, render.Plain(s.chat.In(at).Say(i18n.Cancelled))))
		}
	}
	return err
}

// session returns the session of a request; false: that launch has nothing left to end.
func (e End) session(records port.Views) (r port.Session, ok bool) {
	r, ok = records.Get(e.Session)
	return r, ok && e.Launch.Equal(r.StartedAt) && Endable(r)
}

// tapEnd archives a session that a person confirmed. The question loses its buttons when the end is
// on disk, and the receipt comes as news: an answer to the tap would come before the end is
// certain.
func (s *Sessions) tapEnd(ctx context.Context, t chat.Tap, asked End) (chat.Answer, error) {
	r, ok := asked.session(s.chat.Book.Records)
	if !ok {
		return s.ends.AnswerExpired(ctx, t)
	}
	return chat.Do(func(ctx context.Context) error {
		if begun, err := s.beginEnd(ctx, t, r, asked.Final, "asked for"); err != nil || !begun {
			return err // the question stays, and its button works when the disk does
		}
		if now, _ := s.chat.Book.Records.Get(r.ID); now.Conversation.ChatID != t.To.ChatID && s.chat.Book.MayShow(now.Conversation) {
			text := s.chat.In(t.To).Text(i18n.EndsElsewhere, i18n.Args{"Name": r.Name})
			if link := s.chat.LinkTo(now.Conversation, 0); link != "" {
				text = render.Link(text, link)
			}
			return s.ends.Close(ctx, t.Card.Key, text)
		}
		return s.ends.End(ctx, t, "")
	})
}

// Retry tries again to end what is left of a session. The receipt comes as news; the message stays
// as it is.
func (s *Sessions) Retry(t chat.Tap, r port.Session) (chat.Answer, error) {
	return chat.Answer{Text: s.chat.In(t.To).Say(i18n.Retrying), Then: func(ctx context.Context) error {
		_, err := s.beginEnd(ctx, t, r, cmp.Or(r.Final, port.StateArchived), "another try, asked for")
		return err
	}}, nil
}

// beginEnd puts on disk that a session ends. The receipt comes to where the session is shown, which
// for one person alone is where he tapped. An end brings nothing into a group: if the session's place
// may not be shown anything, the receipt comes in private chats. begun is false if that was refused; then the chat has the
// reason.
func (s *Sessions) beginEnd(ctx context.Context, t chat.Tap, r port.Session, final port.State,
	why string) (begun bool, err error) {
	if book := s.chat.Book; book.MayEnter(t.To, r) == nil && (!book.Several() || !book.MayShow(r.Conversation)) {
		if err := book.MoveTo(ctx, t.To, r); err != nil {
			return false, err
		}
	}
	if err := s.Agents.BeginEnd(ctx, r.ID, final, port.RequestedBy(t.From, why)); err != nil {
		return false, s.chat.Explain(ctx, t.To, s.chat.In(t.To).Failure(r, err))
	}
	return true, nil
}
