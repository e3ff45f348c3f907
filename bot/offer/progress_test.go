package offer_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/bot/offer"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// takeBacks are the sessions whose engines were asked to take a prompt back.
type takeBacks []uuid.UUID

func (t *takeBacks) TakeBack(_ context.Context, session uuid.UUID, _ string, _ int64, _ bool) error {
	*t = append(*t, session)
	return nil
}

func (*takeBacks) Queue(context.Context, uuid.UUID, talk.Offer) error { return nil }
func (*takeBacks) Keep(context.Context, uuid.UUID, talk.Offer) error  { return nil }

// TestP4_MachineReportsItsOwnPrompts: a machine that reports the prompt of another one changes
// nothing there. Only its own engine is asked to take a prompt back.
func TestP4_MachineReportsItsOwnPrompts(t *testing.T) {
	in, err := inbox.OpenStore(t.TempDir(), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	ours, theirs := uuid.New(), uuid.New()
	key := talk.PromptKey(uuid.New())
	_, err = in.Add(inbox.Entry{Key: key, State: inbox.Held, Session: ours, Received: time.Now().UTC(), Text: "fix it"})
	require.NoError(t, err)
	require.NoError(t, in.Change(key, func(*inbox.Entry) error { return nil }))
	var taken takeBacks
	o := offer.Prompts{Entries: in, Engines: &taken, MachineOf: func(id uuid.UUID) string {
		return map[uuid.UUID]string{theirs: "bbbb"}[id]
	}}
	before, err := in.Load(key)
	require.NoError(t, err)
	for _, session := range []uuid.UUID{ours, uuid.Nil, uuid.New(), theirs} {
		for _, state := range []talk.PromptState{talk.PromptHeld, talk.PromptTyping, talk.PromptUnproven, talk.PromptDelivered, talk.PromptForgotten} {
			asks, err := o.Progress(t.Context(), news.Progress{Prompt: talk.Prompt{Key: key}, Machine: "bbbb", Number: 1 << 60, Session: session, State: state})
			require.NoError(t, err)
			assert.False(t, asks)
		}
	}
	after, err := in.Load(key)
	require.NoError(t, err)
	assert.Equal(t, before, after)
	assert.Equal(t, takeBacks{theirs, theirs, theirs}, taken)
}
