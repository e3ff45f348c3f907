package outbox

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A group that refuses a reaction gets no other for a day, also from the next run, and its people are told once. An allowed
// reaction ends that.
func TestRefusedReactionsStopForADay(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		allowed := false
		refuses := func(_ context.Context, _ int, c call) error {
			if c.chat == -5 && c.method == "react" && !allowed {
				return fmt.Errorf("%w, %s", tgbot.ErrorBadRequest, "Bad Request: REACTION_INVALID")
			}
			return nil
		}
		var told []int64
		begin := func() *bench {
			b := newBench(t, dir, refuses)
			b.OnNoReactions = func(chat int64) error { told = append(told, chat); return nil }
			b.run(t)
			return b
		}
		tries := func(b *bench, message int) int {
			had := len(b.seen("react", false))
			b.React(t.Context(), to(-5), message, "👀")
			b.React(t.Context(), to(6), message, "👀")
			b.idle(time.Minute)
			return len(b.seen("react", false)) - had - 1 // the other chat's
		}

		b := begin()
		assert.Equal(t, 1, tries(b, 1))
		assert.Equal(t, 0, tries(b, 2))
		assert.Equal(t, []int64{-5}, b.Unreacted())
		require.NoError(t, b.stop())

		b = begin()
		b.idle(23 * time.Hour)
		assert.Equal(t, 0, tries(b, 3), "after a restart")
		b.idle(time.Hour)
		assert.Equal(t, 1, tries(b, 4), "a day after the refusal")
		assert.Equal(t, 0, tries(b, 5))
		assert.Equal(t, []int64{-5}, told, "said once")

		allowed = true
		b.idle(24 * time.Hour)
		assert.Equal(t, 1, tries(b, 6))
		assert.Equal(t, 1, tries(b, 7))
		assert.Empty(t, b.Unreacted())
		allowed = false
		assert.Equal(t, 1, tries(b, 8))
		assert.Equal(t, 0, tries(b, 9))
		assert.Equal(t, []int64{-5}, told, "a group that allows some of them is told once, too")
		require.NoError(t, b.stop())
	})
}

// A reaction that is taken away is allowed everywhere.
func TestRemovedReactionProvesNothing(t *testing.T) {
	refuses := func(_ context.Context, _ int, c call) error {
		if c.method == "react" && c.text != "" {
			return fmt.Errorf("%w, %s", tgbot.ErrorBadRequest, "Bad Request: REACTION_INVALID")
		}
		return nil
	}
	inBubble(t, refuses, func(t *testing.T, b *bench) {
		b.React(t.Context(), to(-5), 4, "👀")
		b.React(t.Context(), to(-5), 5, "")
		b.idle(time.Minute)
		assert.False(t, b.TakesReactions(-5))
	})
}

// What could not be said is said at the next refusal, and any other error of a reaction says nothing about the chat.
func TestReactionsGoOnWithoutARefusal(t *testing.T) {
	for name, tt := range map[string]struct {
		chat int64
		text string
		said error
	}{
		"it could not be said":    {-5, "REACTION_INVALID", errors.New("the disk is full")},
		"the message was deleted": {-5, "message to react not found", nil},
		"there are too many":      {-5, "REACTIONS_TOO_MANY", nil},
		"it is no group":          {6, "REACTION_INVALID", nil},
	} {
		t.Run(name, func(t *testing.T) {
			refuses := func(context.Context, int, call) error {
				return fmt.Errorf("%w, Bad Request: %s", tgbot.ErrorBadRequest, tt.text)
			}
			inBubble(t, refuses, func(t *testing.T, b *bench) {
				b.OnNoReactions = func(int64) error { return tt.said }
				b.React(t.Context(), to(tt.chat), 4, "👀")
				b.idle(time.Minute)
				assert.True(t, b.TakesReactions(tt.chat))
			})
		})
	}
}
