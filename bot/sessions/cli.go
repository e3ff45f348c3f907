package sessions

import (
	"cmp"
	"context"
	"errors"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/internal/address"
	"ccbot/port"
	"ccbot/port/refusal"
)

// CLI acts for a person in a terminal: the chat reports it like a tap, and the terminal gets the
// error.
type CLI struct{ *Sessions }

// Begin starts a session, as Sessions.Begin does.
func (c CLI) Begin(ctx context.Context, to address.Conversation, q port.Start) (port.Session, error) {
	r, refused, err := c.begin(ctx, to, q)
	return r, cmp.Or(refused, err)
}

// Make ends a session that a person in a terminal has confirmed, by the rule for a tap. The receipt
// comes as news. refusal.WrongState: that launch has ended.
func (e End) Make(ctx context.Context, records port.Views, agents port.Ender) (r port.Session, err error) {
	r, ok := e.session(records)
	switch {
	case r.ID == uuid.Nil:
		return r, &refusal.Error{Code: refusal.NotFound}
	case !ok:
		return r, &refusal.Error{Code: refusal.WrongState, State: r.State}
	}
	err = agents.Archive(ctx, r.ID, e.Final, port.Cause{Why: "requested in a terminal"})
	if now, known := records.Get(r.ID); known {
		r = now
	}
	return r, err
}

// Resumed reports in its conversation a session that was resumed in a terminal, like any session
// that came back. If the current session is not open, the session becomes the current one. current
// is the session that later texts there go to, or the zero record if no conversation shows the
// session.
func (c CLI) Resumed(
	ctx context.Context, id uuid.UUID) (current port.Session, err error) {
	book := c.chat.Book
	r, ok := book.Records.Get(id)
	if !ok || !book.MayShow(r.Conversation) {
		return current, nil
	}
	if err := book.SettleCurrent(ctx, r.Conversation, 0, []port.Session{r}); err != nil {
		return current, err
	}
	current, _ = book.CurrentSession(r.Conversation, 0)
	sent := c.SendWaiting(ctx, r.Conversation.ChatID, r)
	return current, errors.Join(sent, c.reportResuming(ctx, chat.Resume{Session: r, To: r.Conversation}))
}
