package offer_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/bot/machine"
	"ccbot/bot/offer"
	"ccbot/internal/address"
	"ccbot/port"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// barn is another machine with one session. It has the prompts that were offered while it was
// there, in order.
type barn struct {
	machine.Sessions
	port.Views
	away bool
	has  []string
	// unread: its sessions were not read since the start
	unread bool
	looks  func() // after each offer
}

func (b *barn) Get(id uuid.UUID) (port.Session, bool) {
	if b.unread {
		return port.Session{ID: id, State: port.StateUnknown}, true
	}
	return port.Session{ID: id, Machine: "bbbb"}, true
}

func (b *barn) Queue(_ context.Context, _ uuid.UUID, o talk.Offer) error {
	if b.looks != nil {
		defer b.looks()
	}
	if b.away {
		return refusal.ErrUnreachable
	}
	if !slices.Contains(b.has, o.Text) { // an offer may be repeated
		b.has = append(b.has, o.Text)
	}
	return nil
}

func (b *barn) Keep(ctx context.Context, id uuid.UUID, o talk.Offer) error {
	return b.Queue(ctx, id, o)
}

// TestP4_LaterPromptWaitsForEarlierOffer: a prompt that was written when a machine was back comes
// after those that were written while it was away.
func TestP4_LaterPromptWaitsForEarlierOffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, err := inbox.OpenStore(t.TempDir(), slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		b := &barn{}
		o := offer.New(b, in, b, homeless)
		session := uuid.New()
		var told []string
		var ended error
		people := offer.People{IsLate: func(inbox.Entry) bool { return false }, Tell: func(_ context.Context, e inbox.Entry, _ error) error {
			told = append(told, e.Text)
			return nil
		}}
		go func() {
			ended = o.Again(t.Context(), people, func(err error) { ended = err })
		}()
		says := func(text string) {
			key := talk.PromptKey(uuid.New())
			_, err := in.Add(inbox.Entry{Key: key, State: inbox.Accepted, Session: session, Received: time.Now().UTC(), Text: text})
			require.NoError(t, err)
			require.NoError(t, o.Queue(t.Context(), session, key))
			synctest.Wait()
		}
		says("first")
		b.away = true
		says("second")
		says("third")
		b.away = false
		says("fourth")
		assert.Equal(t, []string{"first", "second", "third", "fourth"}, b.has)
		assert.Subset(t, told, []string{"second", "third"})
		assert.NotContains(t, told, "first")
		require.NoError(t, ended)
	})
}

// TestP4_MachineThatIsReadBetweenOffersKeepsOrder: after a restart of the chat an earlier prompt
// names its machine, which does not answer yet, and a later one does not. The machine answers
// between the two offers.
func TestP4_MachineThatIsReadBetweenOffersKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, err := inbox.OpenStore(t.TempDir(), slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		b := &barn{away: true}
		o := offer.New(b, in, b, homeless)
		session := uuid.New()
		says := func(text string) {
			key := talk.PromptKey(uuid.New())
			_, err := in.Add(inbox.Entry{Key: key, State: inbox.Accepted, Session: session, Received: time.Now().UTC(), Text: text})
			require.NoError(t, err)
			require.NoError(t, o.Queue(t.Context(), session, key))
		}
		says("first")
		b.unread = true
		says("second")
		b.looks = func() { b.unread, b.away = false, false }
		people := offer.People{IsLate: func(inbox.Entry) bool { return false }, Tell: func(context.Context, inbox.Entry, error) error { return nil }}
		go func() { _ = o.Again(t.Context(), people, func(error) {}) }()
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, []string{"first", "second"}, b.has)
	})
}

// homeless leaves each session where it is shown.
func homeless(_ address.Conversation, r port.Session) (address.Conversation, bool) {
	return r.Conversation, false
}
