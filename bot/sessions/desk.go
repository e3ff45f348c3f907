package sessions

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/internal/address"
	"ccbot/port"
	"ccbot/port/refusal"
)

// Desk is for what a person does at the desk: the chat is told of it as of a tap, and the person is shown the error.
type Desk struct{ *Sessions }

// Begin starts a session, as Sessions.Begin does.
func (s Desk) Begin(ctx context.Context, to address.Conversation, q port.Start) (port.Session, error) {
	r, refused, err := s.begin(ctx, to, q)
	if refused != nil {
		return r, refused
	}
	return r, err
}

// End ends a session that a person at the desk has confirmed, by the rule for a tap. The receipt comes as
// news. refusal.WrongState: that launch has ended.
func (s Desk) End(ctx context.Context, asked End) (r port.Session, err error) {
	r, ok := asked.session(s.chat.Book.Records)
	switch {
	case r.ID == uuid.Nil:
		return r, &refusal.Error{Code: refusal.NotFound}
	case !ok:
		return r, &refusal.Error{Code: refusal.WrongState, State: r.State}
	}
	err = s.Agents.Archive(ctx, r.ID, asked.Final, port.Cause{Why: "asked for at the desk"})
	if now, known := s.chat.Book.Records.Get(r.ID); known {
		r = now
	}
	return r, err
}

// Resumed takes a session that was resumed at the desk as one that came back, and says so in
// its conversation: where the current session is not open it becomes the current one. current is
// the session that texts there go to from then on; it is the zero record where no conversation
// shows the session.
func (s Desk) Resumed(
	ctx context.Context, id uuid.UUID) (current port.Session, err error) {
	book := s.chat.Book
	r, ok := book.Records.Get(id)
	if !ok || !book.MayShow(r.Conversation) {
		return current, nil
	}
	if err := book.SettleCurrent(ctx, r.Conversation, []port.Session{r}); err != nil {
		return current, err
	}
	current, _ = book.CurrentSession(r.Conversation)
	sent := s.chat.SendWaiting(ctx, r.Conversation.ChatID, r)
	return current, errors.Join(sent, s.tellResuming(ctx, chat.Resume{Session: r, To: r.Conversation}))
}
