package bot

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/ask"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// TestP9_ARequestMovesToWhereItsSessionIsShown: the chat that it was asked in is not one of allowed
// people any more.
func TestP9_ARequestMovesToWhereItsSessionIsShown(t *testing.T) {
	for _, tt := range []struct {
		name      string
		redial    bool
		elsewhere bool
		want      ask.State
	}{
		{"at a start", false, true, ask.StateOpen},
		{"at a redial", true, true, ask.StateOpen},
		{"there is no other", false, false, ask.StateAway},
	} {
		runsAs(t, tt.name, func(t *testing.T, w *world) {
			r, q := w.asking(t)
			delete(w.Allowed, alice)
			if tt.elsewhere {
				w.records.change(r.ID, func(r *session.Record) { r.Conversation = inGroup })
			}
			if tt.redial {
				require.NoError(t, w.Asked(t.Context(), q.Request))
				w.work(t)
			} else {
				w.restart(t)
			}
			c := w.card(t, q)
			assert.Equal(t, tt.want, c.State)
			if !tt.elsewhere {
				assert.Len(t, w.sender.sent, 1)
				assert.Equal(t, []string{"leave"}, w.relay.done())
				return
			}
			require.Len(t, w.sender.sent, 2)
			assert.Equal(t, inGroup, w.sender.sent[1].To)
			assert.Equal(t, inGroup, c.Conversation)
			w.tapsOn(t, bob, q, i18n.AskAllow)
			assert.Equal(t, []string{"allow "}, w.relay.done())
		})
	}
}

// A full disk must not fill the chat as well.
func TestP8_AMessageThatTheDiskDoesNotKnowIsNotSentAgain(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.currentSession(t, "api", session.Running)
		q := w.request(t, r, "Bash", bash)
		require.NoError(t, w.Asked(t.Context(), q.Request))
		file := filesIn(t, w.dir, "cards")[0]
		w.sender.send = func(context.Context, outbox.Message) error { // what stands in the way of the next write
			return errors.Join(os.Remove(file), os.Mkdir(file, 0o700))
		}
		w.work(t)
		w.sender.send = nil
		assert.Zero(t, w.message(t, q))
		w.later(round)
		w.work(t)
		assert.Len(t, w.sender.sent, 1)
		require.NoError(t, os.Remove(file))
		w.press(t, alice, 1, w.word(i18n.AskDenyWhy))
		assert.Len(t, w.sender.sent, 1)
		assert.Equal(t, 1, w.message(t, q))
	})
}

func TestAMessageThatWasDeletedComesAgain(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		_, q := w.asking(t)
		var deleted atomic.Bool // the message that is edited next
		w.sender.edit = func(outbox.Message) error {
			if deleted.CompareAndSwap(true, false) {
				return &outbox.Refused{Err: outbox.ErrGone}
			}
			return nil
		}
		deleted.Store(true)
		w.tapsOn(t, alice, q, i18n.AskDenyWhy)
		assert.Len(t, w.sender.sent, 2)
		deleted.Store(true)
		w.tapsOn(t, alice, q, i18n.AskCancel)
		assert.Len(t, w.sender.sent, 3)
		assert.Equal(t, 3, w.message(t, q))
		deleted.Store(true)
		w.tapsOn(t, alice, q, i18n.AskDeny)
		w.later(2 * time.Minute)
		assert.Len(t, w.sender.sent, 3, "what is decided is not")
	})
}

// The redial was quicker than the news that the connection before it had ended.
func TestP8_AHookThatIsBackHasNotLeft(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		_, q := w.asking(t)
		w.Left(t.Context(), q.Request)
		w.work(t)
		assert.Equal(t, ask.StateOpen, w.card(t, q).State)
	})
}

// heldUp has Telegram hold up Alice's chat at another session's request, until goOn.
func (w *world) heldUp(t *testing.T) (goOn func()) {
	t.Helper()
	taken := make(chan struct{})
	w.sender.send = func(_ context.Context, m outbox.Message) error {
		if strings.Contains(m.Text.Text, "make slow") {
			<-taken
		}
		return nil
	}
	w.asksFor(t, w.session(t, "slow", session.Running), "Bash", `{"command":"make slow"}`)
	return func() {
		close(taken)
		w.work(t)
	}
}

func TestARequestThatNobodySawLeavesNothing(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		goOn := w.heldUp(t)
		r := w.currentSession(t, "api", session.Running)
		q := w.asksFor(t, r, "Bash", bash)
		w.hangsUp(q)
		w.Left(t.Context(), q.Request)
		w.work(t)
		_, known := w.Asks.Get(q.ID)
		assert.False(t, known)
		goOn()
		assert.Len(t, w.sender.sent, 1, "the other one")
		w.dials(q)
		require.NoError(t, w.Asked(t.Context(), q.Request))
		w.work(t)
		assert.Len(t, w.sender.sent, 2, "it is back")
	})
}

func TestWhatWasLeftWithoutADecisionIsOverInTime(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		_, q := w.asking(t)
		w.hangsUp(q)
		w.Left(t.Context(), q.Request)
		w.work(t)
		woken := len(w.sessions.done())
		w.later(29 * time.Minute)
		assert.Len(t, w.sessions.done(), woken, "its terminal is not looked at again and again")
		assert.Equal(t, ask.StateAway, w.card(t, q).State)
		w.later(time.Minute)
		w.later(round)
		assert.Equal(t, ask.Unknown, w.card(t, q).Outcome.What)
		assert.Contains(t, w.sender.lastEdit(t).Text.Text, w.word(i18n.AskUnknown))
	})
}

// At a start people wait for what is open, not for what was.
func TestOpenRequestsComeFirstAtAStart(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r, old := w.asking(t)
		w.result(t, old, "", "ok", false)
		w.later(61 * time.Minute)
		late := w.asksFor(t, r, "Bash", `{"command":"late"}`)
		w.result(t, late, "", "ok", false)
		w.stops(t)
		fresh := w.request(t, r, "Bash", `{"command":"fresh"}`)
		require.NoError(t, w.Asked(t.Context(), fresh.Request))
		var said []string
		w.sender.post = func(outbox.Message) error { said = append(said, "post"); return nil }
		w.sender.edit = func(m outbox.Message) error { said = append(said, m.Text.Text); return nil }
		w.restart(t)
		require.GreaterOrEqual(t, len(said), 2)
		assert.Equal(t, "post", said[0])
		said = slices.DeleteFunc(said, func(one string) bool { return one == "post" })
		require.Len(t, said, 1, "what is over for long is left alone")
		assert.Contains(t, said[0], "late")
		assert.Contains(t, w.lastSent(t).Text.Text, "fresh")
	})
}

// The message that promised more below keeps its promise.
func TestP8_ARequestThatIsShownAgainIsNotLost(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.currentSession(t, "api", session.Running)
		q := w.asksFor(t, r, "Bash", `{"command":"echo a\u202eb"}`)
		goOn := w.heldUp(t)
		w.tapsOn(t, alice, q, i18n.AskShowAll)
		require.True(t, w.card(t, q).AllShown)
		w.hangsUp(q)
		w.Left(t.Context(), q.Request)
		w.work(t)
		goOn()
		assert.Contains(t, w.lastSent(t).Text.Text, w.word(i18n.AskAway))
		w.result(t, q, "", "ok", false)
		assert.Contains(t, w.sender.lastEdit(t).Text.Text, w.verdict(i18n.AskAllowed, i18n.AskAtTerminal))
	})
}

func TestWhoTapsSecondHasNothingToClose(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		_, q := w.asking(t)
		w.tapsOn(t, alice, q, i18n.AskAllow)
		w.tapsLate(t, bob, q, i18n.AskDeny)
		said := w.sender.done()
		assert.Contains(t, said[len(said)-1], "Allowed in the chat")
		assert.Zero(t, w.sender.alerts)
	})
}
