package outbox

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/render"
)

func (b *bench) editText(t *testing.T, text string) {
	t.Helper()
	require.NoError(t, b.Edit(t.Context(), to(5), 1, say(5, text)))
}

func TestEditsCollapse(t *testing.T) {
	inBubble(t, func(_ context.Context, n int, _ call) error {
		if n == 1 {
			return tooMany(100)
		}
		return nil
	}, func(t *testing.T, b *bench) {
		for i := range 10_000 {
			b.editText(t, fmt.Sprint(i))
		}
		synctest.Wait()
		b.mu.Lock()
		assert.LessOrEqual(t, b.queues.chats[5].queue.count, 2, "memory does not grow")
		b.mu.Unlock()
		b.idle(time.Hour)
		edits := b.seen("edit", true)
		require.NotEmpty(t, edits)
		assert.LessOrEqual(t, len(edits), 3)
		assert.Equal(t, "9999", edits[len(edits)-1].text)
	})
}

func TestUnchangedEditIsNotSent(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, b *bench) {
		id, err := b.Send(t.Context(), say(5, "a"))
		require.NoError(t, err)
		require.Equal(t, 1, id)
		b.editText(t, "a")
		b.idle(time.Minute)
		assert.Empty(t, b.seen("edit", false))
		b.editText(t, "b")
		b.idle(time.Minute)
		b.editText(t, "b")
		b.idle(time.Minute)
		assert.Equal(t, []string{"b"}, texts(b.seen("edit", false)))
		assert.Empty(t, b.seen("buttons", false))
	})
}

func TestEditsThatCancelOut(t *testing.T) {
	inBubble(t, func(_ context.Context, n int, _ call) error {
		if n == 2 {
			return tooMany(10)
		}
		return nil
	}, func(t *testing.T, b *bench) {
		b.editText(t, "a")
		b.idle(time.Second)
		pause := b.sendLater(t.Context(), say(5, "x"))
		b.editText(t, "b")
		b.editText(t, "a")
		require.NoError(t, (<-pause).err)
		b.idle(time.Minute)
		assert.Equal(t, []string{"a"}, texts(b.seen("edit", false)))
	})
}

func TestEditDuringAnAttempt(t *testing.T) {
	tests := []struct {
		name  string
		err   error // of the first call
		edits []string
		want  []string
	}{
		{"newest follows", nil, []string{"b", "c"}, []string{"a", "c"}},
		{"same again", nil, []string{"b", "a"}, []string{"a"}},
		{"newest instead of a retry", errBroken, []string{"b", "c"}, []string{"a", "c"}},
		{"refused, the newest is tried", errGone, []string{"b"}, []string{"a", "b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(_ context.Context, n int, _ call) error {
				if n > 1 {
					return nil
				}
				<-time.After(time.Second)
				return tt.err
			}, func(t *testing.T, b *bench) {
				b.editText(t, "a")
				synctest.Wait()
				for _, text := range tt.edits {
					b.editText(t, text)
				}
				b.idle(time.Minute)
				assert.Equal(t, tt.want, texts(b.seen("edit", false)))
				assert.Empty(t, b.queues.edits)
			})
		})
	}
}

func TestNotModifiedIsSuccess(t *testing.T) {
	inBubble(t, func(context.Context, int, call) error { return errSame }, func(t *testing.T, b *bench) {
		b.editText(t, "a")
		b.idle(time.Minute)
		b.editText(t, "a")
		b.idle(time.Minute)
		assert.Len(t, b.seen("edit", false), 1)
	})
}

// The owner of a message gets the result of an edit once, also if the edit changes nothing.
func TestOwnerGetsResultsOfEdits(t *testing.T) {
	o := &owner{texts: map[string]string{}}
	refuse := func(_ context.Context, n int, _ call) error {
		return []error{nil, errGone, errServer, nil}[min(n, 4)-1]
	}
	inNamedBubble(t, t.TempDir(), o, refuse, func(b *bench) {
		for i, text := range []string{"a", "a", "b", "b"} {
			m := named("card")
			m.Text = render.Plain(text)
			if i == 1 {
				require.NoError(t, b.EditNow(context.WithoutCancel(t.Context()), to(5), 1, m))
			} else {
				require.NoError(t, b.Edit(t.Context(), to(5), 1, m))
			}
			b.idle(time.Minute)
		}
		gone := fmt.Errorf("%w: %w", ErrGone, errGone)
		shows := func(text string) string { return fmt.Sprintf("card: %q is 1 in 5", text) }
		assert.Equal(t, []string{shows("a"), shows("a"), "card 1: " + gone.Error(), shows("b")}, o.notes())
		assert.Equal(t, []string{"a", "b", "b", "b"}, texts(b.seen("edit", false)), "what it looks like is not known after the refusal")
		b.editText(t, "c")
		b.idle(time.Minute)
		assert.Len(t, o.notes(), 4, "that one has no name")
	})
}

func TestEditNowWithTwoCallers(t *testing.T) {
	inBubble(t, once(tooMany(10)), func(t *testing.T, b *bench) {
		b.sendLater(t.Context(), say(5, "x"))
		got := make(chan error, 3)
		for i := range 3 {
			ctx, cancel := context.WithCancel(t.Context())
			go func() { got <- b.EditNow(ctx, to(5), 1, say(5, fmt.Sprint(i))) }()
			synctest.Wait()
			if i == 1 {
				cancel() // the others continue
				require.ErrorIs(t, <-got, context.Canceled)
			}
			defer cancel()
		}
		require.NoError(t, <-got)
		require.NoError(t, <-got)
		assert.Equal(t, []string{"2"}, texts(b.seen("edit", false)))
	})
}
