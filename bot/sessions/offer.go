package sessions

import (
	"context"
	"strconv"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// offer is a resume that an option of a card stands for: the value of the option is the offer's place in
// the card's payload.
type offer struct {
	chat.Offer
	MakeDir   bool      `json:"make_dir,omitempty"`  // the folder is made first
	UndoUntil time.Time `json:"undo_until,omitzero"` // it takes an end back, until then
}

const (
	retryOption = "retry"     // tries again to end what is left of the session of the first offer
	undoFor     = time.Minute // after an end [Undo] works
)

// offer posts what can be resumed. about is the session that the message is about, if it is one.
func (m *Resumer) offer(ctx context.Context, to outbox.Conversation, about uuid.UUID, text render.Text,
	shown []offer, options ...card.Option) error {
	look := card.Look{To: to, Session: about, Text: text, Options: chat.Rows(1, options...)}
	return m.offers.Post(ctx, look, shown)
}

// tap resumes a session: [Undo], [Restore], a session that was picked, and the choices under a
// resume that was refused.
func (m *Resumer) tap(ctx context.Context, t chat.Tap, was []offer) (chat.Answer, error) {
	i, _ := strconv.Atoi(t.Card.Option) // 0 of retryOption
	chosen := was[i]
	q, ok := m.chat.Accepted(chosen.Offer, t)
	switch q.Undo = !chosen.UndoUntil.IsZero(); {
	case !ok, t.Card.Option == retryOption && !isNotClean(q.Session):
		return m.offers.Over(ctx, t)
	case t.Card.Option == retryOption:
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
	var later card.Option
	switch r := q.Session; {
	case isNotClean(r):
		later = m.chat.Option(i18n.ButtonRetry, retryOption, "")
	case r.Resumable():
		later = m.chat.Option(i18n.ButtonResume, "0", outbox.Primary)
	default: // it is open again
		return m.offers.Over(ctx, t)
	}
	if c, ok := m.offers.Get(t.Card.Key); ok {
		c.Look.Options = chat.Rows(1, later)
		if err := m.offers.Redraw(ctx, c.Key, c.Look, []offer{{Offer: q.Offer()}}); err != nil {
			return chat.Answer{}, err
		}
	}
	return chat.Answer{Text: m.words.Say(i18n.UndoOver), Alert: true}, nil
}

// followResume is a tap on a link to a session that is to be resumed. Whether the session can come back
// is for the session's worker to say: news of an end is told before the end is on disk, and a person may
// be quicker than that.
func (m *Resumer) followResume(_ context.Context, t chat.Tap) (chat.Answer, error) {
	r, ok := m.chat.Linked(t)
	if !ok {
		return m.chat.Stale(t)
	}
	q, _ := m.chat.Accepted(chat.Offer{Session: r.ID}, t)
	return chat.Do(func(ctx context.Context) error {
		if back, err := m.Resume(ctx, q); err != nil || !back {
			return err
		}
		return m.chat.Spend(ctx, t)
	})
}
