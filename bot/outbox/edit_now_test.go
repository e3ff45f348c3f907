package outbox

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An awaited edit is the newest: no earlier edit comes after it.
func TestP5_AwaitedEditIsTheLast(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error // of the first call
		want []string
	}{
		{"behind one under way", nil, []string{"a", "end"}},
		{"the one under way breaks", errBroken, []string{"a", "end"}},
		{"the one under way is refused", errGone, []string{"a", "end"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(_ context.Context, n int, _ call) error {
				if n > 1 {
					return nil
				}
				<-time.After(time.Second)
				return tt.err
			}, func(t *testing.T, b *bench) {
				b.editText(t, "a")
				b.idle(time.Second / 2)
				b.editText(t, "b")
				require.NoError(t, b.EditNow(t.Context(), to(5), 1, say(5, "end")))
				b.idle(time.Hour)
				assert.Equal(t, tt.want, texts(b.seen("edit", false)))
				b.idle(time.Minute)
				b.editText(t, "later")
				b.idle(time.Minute)
				assert.Equal(t, append(tt.want, "later"), texts(b.seen("edit", false)))
			})
		})
	}
}

func TestEditNowReplacesWaitingEdit(t *testing.T) {
	inBubble(t, func(_ context.Context, n int, _ call) error {
		if n == 1 {
			return tooMany(10)
		}
		return nil
	}, func(t *testing.T, b *bench) {
		pause := b.sendLater(t.Context(), say(5, "x"))
		b.idle(time.Second)
		b.editText(t, "old")
		require.NoError(t, b.EditNow(t.Context(), to(5), 1, say(5, "end")))
		require.NoError(t, (<-pause).err)
		b.idle(time.Minute)
		assert.Equal(t, []string{"end"}, texts(b.seen("edit", false)))
	})
}

func TestEditNowReturnsRefusal(t *testing.T) {
	inBubble(t, func(context.Context, int, call) error { return errGone }, func(t *testing.T, b *bench) {
		refused := (*Refused)(nil)
		require.ErrorAs(t, b.EditNow(t.Context(), to(5), 1, say(5, "end")), &refused)
		require.ErrorAs(t, b.EditNow(t.Context(), to(5), 1, say(5, " ")), &refused)
	})
}
