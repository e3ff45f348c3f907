package outbox

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"ccbot/internal/waittest"
)

// TestHoldCountsBeforeDisk: a slow disk must not let calls through that Telegram has just
// forbidden.
func TestHoldCountsBeforeDisk(t *testing.T) {
	tests := []struct {
		name string
		ask  func(b *bench, ctx context.Context)
	}{
		{"told to a message", func(b *bench, ctx context.Context) { assert.NoError(t, b.Post(ctx, say(5, "x"))) }},
		{"told to a reaction", func(b *bench, ctx context.Context) { b.React(ctx, to(5), 3, "👀") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, t.TempDir(), once(tooMany(3600)))
			b.notes.holds.Writing.Lock() // the disk takes its time
			b.run(t)
			t.Cleanup(b.notes.holds.Writing.Unlock) // before the end of Run is awaited
			tt.ask(b, t.Context())
			waittest.Until(t, func() bool { return b.heldOn(5) })
			b.React(t.Context(), to(5), 4, "👀")
			b.Typing(t.Context(), to(5))
			b.Answer(t.Context(), to(5), "q", "text", false)
			b.mu.Lock()
			defer b.mu.Unlock()
			_, wait := b.queues.chats[5].turn(time.Now())
			assert.Greater(t, wait, time.Minute)
		})
	}
}

// heldOn reports whether a chat must wait.
func (b *bench) heldOn(chat int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.queues.chats[chat]
	return l != nil && time.Now().Before(l.until)
}
