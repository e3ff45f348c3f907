package bot_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/ask"
	"ccbot/bot/card"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/disk/disktest"
	"ccbot/internal/pause"
	"ccbot/internal/session"
)

// turnsOfChat: a group with a request becomes another chat, a person allows the request there and
// makes another session the current one, a topic is deleted, and then the first session is
// forgotten.
func turnsOfChat() *disktest.Turns {
	var w *chattest.World
	var r, other session.Record
	var request chattest.Asked
	var test *testing.T
	begin := sync.OnceFunc(func() {
		stop := w.Running(test)
		ctx, end := context.WithCancel(test.Context())
		go func() { // as the outbox does
			for pause.For(ctx, 100*time.Millisecond) == nil {
				w.Telegram.Deliver(ctx)
			}
		}()
		test.Cleanup(func() { assert.NoError(test, stop()); end() })
	})
	return &disktest.Turns{
		Prepare: func(t *testing.T) string {
			test, w = t, chattest.NewWorld(t)
			r, _, request = w.SettledIn(t, chattest.InGroup)
			other = w.Session(t, "other", session.Running)
			require.NoError(t, w.Chats.SetCurrent(chattest.InTopic, other.ID))
			return w.Dir
		},
		Turn: inOrderAfter(begin,
			func() error { _, err := w.Bot.Moves.Note(chattest.Ours, chattest.Grown); return err },
			func() error {
				time.Sleep(300 * time.Millisecond)
				if id := w.ShownAs(test, request); id == 0 || w.Telegram.Sent[id-1].To != inGrown {
					return errors.New("the request is shown in the new chat")
				}
				return nil
			},
			func() error {
				err := w.TapOnShown(test, chattest.Bob, w.ShownAs(test, request), i18n.AskAllow)
				time.Sleep(300 * time.Millisecond)
				if err == nil && len(w.Relay.Done()) == 0 {
					err = errors.New("the request is allowed")
				}
				return err
			},
			func() error { return w.Chats.SetCurrent(chattest.InGroup, other.ID) },
			func() error {
				w.Bot.Moves.TopicGone(chattest.InTopic)
				time.Sleep(300 * time.Millisecond)
				if slices.Contains(w.Chats.All(), chattest.InTopic) {
					return errors.New("the chat has what was known of the topic")
				}
				return nil
			},
			func() error { return w.Forget(context.Background(), r.ID) },
		),
		Done: func(t *testing.T) {
			assert.Equal(t, []string{"allow "}, w.Relay.Done())
			assert.Equal(t, other.ID, w.Chats.Current(chattest.InGroup))
			assert.Equal(t, other.ID, w.Chats.Current(chattest.AtAlice), "the topic's current session")
			for _, folder := range []string{"asks", "quarantine"} {
				left, err := os.ReadDir(filepath.Join(w.Dir, folder))
				if !errors.Is(err, os.ErrNotExist) {
					require.NoError(t, err)
				}
				assert.Empty(t, left, folder)
			}
			assert.Empty(t, w.Cards.Needs(r.ID))
		},
	}
}

// inOrderAfter is disktest.InOrder after begin.
func inOrderAfter(begin func(), tasks ...func() error) func() error {
	turn := disktest.InOrder(tasks...)
	return func() error { begin(); return turn() }
}

func TestP4_ChatOutlivesFaults(t *testing.T) {
	disktest.Run(t, func() disktest.Scenario { return turnsOfChat() })
}

// TestP8_LeftRequestOutlivesFault: that a hook has left cannot be written.
func TestP8_LeftRequestOutlivesFault(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		heal := disktest.FailAll(t, "create", filepath.Join(w.Dir, "asks"))
		w.HangsUp(q)
		w.OnLeft(t.Context(), q.Request)
		w.Later(10 * time.Minute)
		before := w.RequestState(t, q)
		heal()
		w.Later(disktest.HealTime)
		assert.NotEqual(t, before.Stage, w.RequestState(t, q).Stage)
	})
}

// A request has ended, and its card cannot be written.
func TestP8_CardOfEndedRequestOutlivesFault(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, q := w.Asking(t)
		heal := disktest.FailAll(t, "create", filepath.Join(w.Dir, "cards"))
		w.Result(t, q, "", "ok", false)
		require.True(t, w.RequestState(t, q).HasEnded())
		require.Equal(t, card.Needs{Answers: 1}, w.Cards.Needs(r.ID))
		heal()
		w.Later(disktest.HealTime)
		assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, w.Verdict(i18n.AskAllowed, i18n.AskAtTerminal))
		assert.Empty(t, w.Telegram.LastEdit(t).Buttons)
		assert.Zero(t, w.Cards.Needs(r.ID), "no person has to answer it")
	})
}

// All parts of a request are in the chat, and its card cannot come again below them.
func TestP8_RequestShownInFullOutlivesFault(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		q := w.AsksFor(t, r, "Bash", `{"command":"`+strings.Repeat(`ls\n`, 200)+`"}`)
		heal := disktest.FailAll(t, "create", filepath.Join(w.Dir, "cards"))
		w.TapsOn(t, chattest.Alice, q, i18n.AskShowAll)
		w.Work(t)
		require.True(t, w.RequestState(t, q).AllShown)
		require.False(t, w.Has(w.Shows(t, 1), i18n.AskAllow))
		heal()
		w.Later(disktest.HealTime)
		assert.True(t, w.Has(w.Telegram.LastEdit(t), i18n.AskAllow))
	})
}

// The message of a request is withdrawn because its hook has left, the file stays, and the hook
// redials.
func TestP8_RequestIsShownAgainAfterFault(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		heal := disktest.FailAll(t, "remove", filepath.Join(w.Dir, "asks"))
		q := w.Request(t, r, "Bash", chattest.Bash)
		require.NoError(t, w.OnRequest(t.Context(), q.Request))
		w.HangsUp(q)
		w.OnLeft(t.Context(), q.Request)
		w.Work(t)
		require.Empty(t, w.Telegram.Sent)
		heal()
		w.Dials(q)
		require.NoError(t, w.OnRequest(t.Context(), q.Request))
		w.Work(t)
		assert.Positive(t, w.Message(t, q))
	})
}

// Telegram refuses the message of a request, and that cannot be written.
func TestP8_RefusedRequestOutlivesFault(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		heal := func() {}
		fault := sync.OnceFunc(func() { heal = disktest.FailAll(t, "create", filepath.Join(w.Dir, "asks")) })
		w.Telegram.OnSend = func(context.Context, outbox.Message) error {
			fault()
			return &outbox.Refused{Err: errors.New("bad request")}
		}
		_, q := w.Asking(t)
		require.Empty(t, w.Relay.Done())
		heal()
		w.Later(disktest.HealTime)
		assert.Equal(t, []string{"leave"}, w.Relay.Done())
		assert.Equal(t, ask.StageAway, w.RequestState(t, q).Stage)
	})
}
