package card

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
)

// asking returns a card that needs an answer.
func asking(text string) Content {
	l := question(text)
	l.Needs = Answer
	return l
}

func (w *world) again(how Bring) {
	w.Helper()
	shown, err := w.kind.Again(w.Context(), "k", how)
	require.NoError(w, err)
	require.True(w, shown)
}

func TestAgainLeadsFromEarlierMessage(t *testing.T) {
	inWorld(t, func(w *world) {
		w.board.Link = func(at outbox.Conversation, message int) string { return "https://t.me/c/1/2" }
		w.shown("k", asking("one"))
		w.shown("l", question("other"))
		w.again(Bring{Note: render.Plain("below"), ExtraOptions: []Option{{Text: "Next", Value: "next"}}})
		w.pass(10 * time.Second)
		assert.Equal(t, []string{"one\n\nbelow", "other [Yes] [No]", "one [Yes] [No] [Next]"}, w.looks())
		tapped, ok := w.tap(w.chat.seen()[2], 2)
		assert.True(t, ok)
		assert.Equal(t, "next", tapped.Option)
		w.shown("k", asking("two"))
		assert.Equal(t, "two [Yes] [No] [Next]", w.looks()[2], "it stays below each look")
		require.NoError(t, w.kind.Close(w.Context(), "k", render.Plain("done")))
		w.pass(10 * time.Second)
		assert.Equal(t, "done", w.looks()[2])
	})
}

// The outbox may report the edit of an earlier message after the card has moved once more.
func TestP7_LateEditDoesNotBringCardBack(t *testing.T) {
	inWorld(t, func(w *world) {
		w.shown("k", asking("one"))
		first := w.board.listLocked()[0]
		w.again(Bring{Note: render.Plain("below")})
		w.pass(10 * time.Second)
		w.again(Bring{Note: render.Plain("below")})
		edit := first.message()
		edit.Text, edit.Buttons = render.Plain("one\n\nbelow"), nil
		require.NoError(t, w.board.Sent(w.Context(), first.postName(), first.At, first.Message, edit))
		w.pass(10 * time.Second)
		assert.Equal(t, []string{"one\n\nbelow", "one\n\nbelow", "one [Yes] [No]"}, w.looks())
	})
}

func TestAgainInItsPresentMessage(t *testing.T) {
	inWorld(t, func(w *world) {
		w.shown("k", asking("one"))
		w.again(Bring{Stay: true, ExtraOptions: []Option{{Text: "Next", Value: "next"}}})
		w.pass(10 * time.Second)
		assert.Equal(t, []string{"one [Yes] [No] [Next]"}, w.looks())
	})
}

// A kill between the new message and the end of the earlier one leaves one with working buttons;
// the next run removes the buttons of the other. The earlier message keeps its buttons until the
// card knows the new one.
func TestP8_KillDuringAgainLeavesOneUsable(t *testing.T) {
	usable := func(w *world) (n int) {
		for _, m := range w.chat.seen() {
			if len(m.buttons) == 0 {
				continue
			}
			if _, ok := w.tap(m, 0); ok {
				n++
			}
		}
		return n
	}
	for name, kill := range map[string]struct {
		buttons int // messages with buttons
		die     func(w *world)
	}{
		"before the post": {1, func(w *world) {
			over := make(chan struct{})
			w.board.Failpoint = func(at string) {
				if at == "card-again" {
					w.kill()
					runtime.Goexit()
				}
			}
			go func() {
				defer close(over)
				_, _ = w.kind.Again(w.Context(), "k", Bring{Note: render.Plain("below")})
			}()
			<-over
		}},
		"before its number is noted": {2, func(w *world) {
			w.killAt.Store(beforeNote)
			w.again(Bring{Note: render.Plain("below")})
			w.pass(10 * time.Second)
		}},
		"before the earlier message is edited": {2, func(w *world) {
			w.killAt.Store(afterNote)
			w.again(Bring{Note: render.Plain("below")})
			w.pass(10 * time.Second)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.shown("k", asking("one"))
				kill.die(w)
				shown := slices.DeleteFunc(w.chat.seen(), func(m shownMessage) bool { return len(m.buttons) == 0 })
				assert.Len(t, shown, kill.buttons)
				successor := w.reopened(w.T, w.chat, anywhere) // not running yet
				w.process = successor
				assert.Positive(t, usable(w), "before anything is repaired")
				w.start(w.T)
				w.pass(time.Minute)
				assert.Equal(t, 1, usable(w))
				w.restart()
				w.pass(time.Minute)
				assert.Equal(t, 1, usable(w))
			})
		})
	}
}

func TestRefusedAgainKeepsEarlierMessage(t *testing.T) {
	inWorld(t, func(w *world) {
		w.shown("k", asking("one"))
		w.chat.do(func() { w.chat.refuse = true })
		w.again(Bring{Note: render.Plain("below")})
		w.pass(10 * time.Second)
		assert.Equal(t, []string{"one [Yes] [No]"}, w.looks())
		_, ok := w.tap(w.chat.seen()[0], 0)
		assert.True(t, ok)
		assert.Empty(t, w.refused)
	})
}

func TestQuestionsAreListedOldestFirst(t *testing.T) {
	inWorld(t, func(w *world) {
		began := time.Now()
		w.shown("k", asking("one"))
		old := asking("two")
		old.WaitsSince = began.Add(-time.Hour)
		w.shown("l", old)
		w.shown("m", question("three"))
		w.again(Bring{Remind: true})
		w.pass(10 * time.Second)
		all := w.board.Questions()
		require.Len(t, all, 2)
		assert.Equal(t, []string{"l", "k"}, []string{all[0].Key, all[1].Key})
		assert.Equal(t, []any{1, began.UTC().Round(0), began.Add(30 * time.Second).UTC().Round(0), 4}, []any{all[1].Reminded, all[1].WaitsSince, all[1].Brought.Truncate(time.Second), all[1].Message})
		require.NoError(t, w.kind.Close(w.Context(), "l", render.Text{}))
		assert.Len(t, w.board.Questions(), 1)
	})
}
