package bot_test

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/ask"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// TestP9_RequestMovesWithSession: the request's first chat no longer has allowed people.
func TestP9_RequestMovesWithSession(t *testing.T) {
	for _, tt := range []struct {
		name      string
		redial    bool
		elsewhere bool
		want      ask.Stage
	}{
		{"at a start", false, true, ask.StageOpen},
		{"at a redial", true, true, ask.StageOpen},
		{"there is no other", false, false, ask.StageAway},
	} {
		chattest.RunsAs(t, tt.name, func(t *testing.T, w *chattest.World) {
			r, q := w.Asking(t)
			delete(w.People, chattest.Alice)
			if tt.elsewhere {
				w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = chattest.InGroup })
			}
			if tt.redial {
				require.NoError(t, w.OnRequest(t.Context(), q.Request))
				w.Work(t)
			} else {
				w.Restart(t)
			}
			c := w.RequestState(t, q)
			assert.Equal(t, tt.want, c.Stage)
			if !tt.elsewhere {
				assert.Len(t, w.Telegram.Sent, 1)
				assert.Equal(t, []string{"leave"}, w.Relay.Done())
				return
			}
			require.Len(t, w.Telegram.Sent, 2)
			assert.Equal(t, chattest.InGroup, w.Telegram.Sent[1].To)
			assert.Equal(t, chattest.InGroup, c.Conversation)
			w.TapsOn(t, chattest.Bob, q, i18n.AskAllow)
			assert.Equal(t, []string{"allow "}, w.Relay.Done())
		})
	}
}

// A full disk must not fill the chat as well.
func TestP8_UnsavedMessageIsNotRepeated(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		q := w.Request(t, r, "Bash", chattest.Bash)
		require.NoError(t, w.OnRequest(t.Context(), q.Request))
		synctest.Wait()
		file := chattest.FilesIn(t, w.Dir, "cards")[0]
		w.Telegram.OnSend = func(context.Context, outbox.Message) error { // blocks the next write
			return errors.Join(os.Remove(file), os.Mkdir(file, 0o700))
		}
		w.Work(t)
		w.Telegram.OnSend = nil
		assert.Zero(t, w.Message(t, q))
		w.Later(chattest.Round)
		w.Work(t)
		assert.Len(t, w.Telegram.Sent, 1)
		require.NoError(t, os.Remove(file))
		w.Press(t, chattest.Alice, 1, w.Word(i18n.AskDenyWhy))
		assert.Len(t, w.Telegram.Sent, 1)
		assert.Equal(t, 1, w.Message(t, q))
	})
}

func TestDeletedMessageComesAgain(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		var deleted atomic.Bool // the message that is edited next
		w.Telegram.OnEdit = func(outbox.Message) error {
			if deleted.CompareAndSwap(true, false) {
				return &outbox.Refused{Err: outbox.ErrGone}
			}
			return nil
		}
		deleted.Store(true)
		w.TapsOn(t, chattest.Alice, q, i18n.AskDenyWhy)
		assert.Len(t, w.Telegram.Sent, 2)
		deleted.Store(true)
		w.TapsOn(t, chattest.Alice, q, i18n.AskCancel)
		assert.Len(t, w.Telegram.Sent, 3)
		assert.Equal(t, 3, w.Message(t, q))
		deleted.Store(true)
		w.TapsOn(t, chattest.Alice, q, i18n.AskDeny)
		w.Later(2 * time.Minute)
		assert.Len(t, w.Telegram.Sent, 3, "what is decided is not")
	})
}

// The redial was quicker than the news that the connection before it had ended.
func TestP8_ReconnectedHookHasNotLeft(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		w.OnLeft(t.Context(), q.Request)
		w.Work(t)
		assert.Equal(t, ask.StageOpen, w.RequestState(t, q).Stage)
	})
}

func TestUnshownRequestLeavesNothing(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		goOn := w.HeldUp(t)
		r := w.NewCurrentSession(t, "api", session.Running)
		q := w.AsksFor(t, r, "Bash", chattest.Bash)
		w.HangsUp(q)
		w.OnLeft(t.Context(), q.Request)
		w.Work(t)
		_, known := w.Asks.Get(q.ID)
		assert.False(t, known)
		goOn()
		assert.Len(t, w.Telegram.Sent, 1, "the other one")
		w.Dials(q)
		require.NoError(t, w.OnRequest(t.Context(), q.Request))
		w.Work(t)
		assert.Len(t, w.Telegram.Sent, 3, "it is back, and a line names the two")
	})
}

// The chat shows a message while its call is pending, so it gets the request's outcome.
func TestP5_UnsentRequestGetsOutcome(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		arrives := make(chan struct{})
		w.Telegram.OnSend = func(context.Context, outbox.Message) error { <-arrives; return nil }
		_, q := w.Asking(t)
		w.HangsUp(q)
		w.OnLeft(t.Context(), q.Request)
		w.Work(t)
		close(arrives)
		w.Work(t)
		w.Result(t, q, "", "ok", false)
		assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, w.Word(i18n.AskAtTerminal))
	})
}

func TestUndecidedRequestExpires(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		w.HangsUp(q)
		w.OnLeft(t.Context(), q.Request)
		w.Work(t)
		woken := len(w.Lifecycle.Done())
		w.Later(29 * time.Minute)
		assert.Len(t, w.Lifecycle.Done(), woken, "its terminal is not looked at again and again")
		assert.Equal(t, ask.StageAway, w.RequestState(t, q).Stage)
		w.Later(time.Minute)
		w.Later(chattest.Round)
		assert.Equal(t, ask.Unknown, w.RequestState(t, q).Outcome.What)
		assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, w.Word(i18n.AskUnknown))
	})
}

// At a start people wait for what is open, not for what was.
func TestStartHandlesOpenRequestsFirst(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, old := w.Asking(t)
		w.Result(t, old, "", "ok", false)
		w.Later(61 * time.Minute)
		late := w.AsksFor(t, r, "Bash", `{"command":"late"}`)
		w.Telegram.OnEdit = func(outbox.Message) error { return errors.New("no answer") } // before the stop
		w.Result(t, late, "", "ok", false)
		w.Stops(t)
		fresh := w.Request(t, r, "Bash", `{"command":"fresh"}`)
		require.NoError(t, w.OnRequest(t.Context(), fresh.Request))
		var edits []outbox.Message
		w.Telegram.OnEdit = func(m outbox.Message) error { edits = append(edits, m); return nil }
		w.Restart(t)
		require.Len(t, edits, 1, "what is over for long is left alone")
		assert.Contains(t, edits[0].Text.Text, "late")
		assert.Contains(t, w.LastSent(t).Text.Text, "fresh")
		assert.Less(t, w.LastSent(t).Rank, edits[0].Rank)
	})
}

// The message that promised more below keeps its promise.
func TestP8_RepeatedRequestIsNotLost(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		q := w.AsksFor(t, r, "Bash", `{"command":"echo a\u202eb"}`)
		goOn := w.HeldUp(t)
		w.TapsOn(t, chattest.Alice, q, i18n.AskShowAll)
		require.True(t, w.RequestState(t, q).AllShown)
		w.HangsUp(q)
		w.OnLeft(t.Context(), q.Request)
		w.Work(t)
		goOn()
		assert.Contains(t, w.LastSent(t).Text.Text, w.Word(i18n.AskAway))
		w.Result(t, q, "", "ok", false)
		assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, w.Verdict(i18n.AskAllowed, i18n.AskAtTerminal))
	})
}

func TestSecondTapClosesNothing(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		w.TapsOn(t, chattest.Alice, q, i18n.AskAllow)
		w.TapsLate(t, chattest.Bob, q, i18n.AskDeny)
		said := w.Telegram.Done()
		assert.Contains(t, said[len(said)-1], "Allowed in the chat")
		assert.Zero(t, w.Telegram.Alerts)
	})
}

// The message comes again below, without a sound, and its session waits as before.
func TestRequestAwaitsAnswerAfterShowAll(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		q := w.AsksFor(t, r, "Bash", `{"command":"echo a\u202eb"}`)
		require.True(t, w.Deps.Cards.Needs(r.ID).Answers > 0)
		w.TapsOn(t, chattest.Alice, q, i18n.AskShowAll)
		require.True(t, w.Has(w.LastSent(t), i18n.AskAllow))
		assert.False(t, w.LastSent(t).Sounds)
		assert.True(t, w.Deps.Cards.Needs(r.ID).Answers > 0)
		w.TapsOn(t, chattest.Alice, q, i18n.AskAllow)
		assert.False(t, w.Deps.Cards.Needs(r.ID).Answers > 0)
	})
}
