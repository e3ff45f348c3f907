package sessions

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// offer is a resume that an option of a card stands for: the value of the option is the offer's
// place in the card's payload.
type offer struct {
	chat.Offer
	MakeDir   bool      `json:"make_dir,omitempty"`  // the folder is made first
	UndoUntil time.Time `json:"undo_until,omitzero"` // it takes an end back, until then
	Retry     bool      `json:"retry,omitempty"`     // what is left of the launch is to be ended first
	Launch    string    `json:"launch,omitempty"`    // of Retry
}

// undoFor is how long after an end [Undo] works.
const undoFor = time.Minute

// offer posts what can be resumed. about is the session that the message is about, if it is one.
func (m *Resumer) offer(ctx context.Context, to outbox.Conversation, about uuid.UUID, text render.Text,
	shown []offer, options ...card.Option) error {
	look := card.Look{To: to, Session: about, Text: text, Options: chat.Rows(1, options...)}
	return m.offers.Post(ctx, look, shown)
}

// tap resumes a session: [Undo], [Restore], a session that was picked, and the choices under a
// resume that was refused.
func (m *Resumer) tap(ctx context.Context, t chat.Tap, was []offer) (chat.Answer, error) {
	i, err := strconv.Atoi(t.Card.Option)
	if err != nil || i >= len(was) {
		return chat.Answer{}, fmt.Errorf("option of an offer: %q", t.Card.Option)
	}
	chosen := was[i]
	q, ok := m.chat.Accepted(chosen.Offer, t)
	switch q.Undo = !chosen.UndoUntil.IsZero(); {
	case !ok, chosen.Retry && !isRetry(q.Session, chosen.Launch):
		return m.offers.Over(ctx, t)
	case chosen.Retry:
		return m.ends.retry(t, q.Session)
	case q.Undo && m.chat.Now().After(chosen.UndoUntil):
		return m.tooLate(ctx, t, q)
	}
	return chat.Do(func(ctx context.Context) error {
		if chosen.MakeDir {
			if made, err := m.makeDir(ctx, q); err != nil || !made {
				return err
			}
		}
		if back, err := m.Resume(ctx, q); err != nil || !back {
			return err
		}
		return m.offers.End(ctx, t, "")
	})
}

// tooLate offers what is possible when the time of [Undo] is over.
func (m *Resumer) tooLate(ctx context.Context, t chat.Tap, q chat.Resume) (chat.Answer, error) {
	c, ok := m.offers.Get(t.Card.Key)
	option := m.chat.Option(i18n.ButtonResume, "0", outbox.Primary)
	switch r := q.Session; {
	case isNotClean(r):
		option = m.chat.Option(i18n.ButtonRetry, "0", "")
	case !r.Resumable, !ok: // it is open again
		return m.offers.Over(ctx, t)
	}
	c.Look.Options = chat.Rows(1, option)
	later := []offer{{Offer: q.Offer(), Retry: isNotClean(q.Session), Launch: chat.LaunchOf(q.Session)}}
	return chat.Answer{Text: m.words.Say(i18n.UndoOver), Alert: true}, m.offers.Redraw(ctx, c.Key, c.Look, later)
}
