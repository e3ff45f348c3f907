package bot_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/i18n"
	"ccbot/internal/disk/disktest"
	"ccbot/internal/pause"
	"ccbot/internal/session"
)

// turnsOfChat: a group with a request becomes another chat, a person allows the request there and makes another session the
// current one, a topic is deleted, and then the first session is forgotten.
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
			func() error { return w.Bot.Forget(context.Background(), r.ID) },
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
		w.Left(t.Context(), q.Request)
		w.Later(10 * time.Minute)
		before := w.RequestState(t, q)
		heal()
		w.Later(disktest.HealTime)
		assert.NotEqual(t, before.Stage, w.RequestState(t, q).Stage)
	})
}
