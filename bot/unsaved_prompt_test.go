package bot_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
)

// A prompt that cannot be written down, wherever that fails, is the inbox's to hand on again.
func TestP4_UnsavedPromptWaits(t *testing.T) {
	for _, tt := range []struct {
		name string
		fail func(w *chattest.World)
	}{
		{"the text", func(w *chattest.World) { w.Inbox.OnSave = func(inbox.Entry) error { return chattest.ErrDisk } }},
		{"the record", func(w *chattest.World) {
			w.Lifecycle.OnQueue = func(uuid.UUID, string) error { return chattest.ErrDisk }
		}},
		{"that it is held", func(w *chattest.World) {
			w.Inbox.OnSave = func(e inbox.Entry) error {
				if e.State == inbox.Held {
					return chattest.ErrDisk
				}
				return nil
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.NewCurrentSession(t, "api", session.Running)
			w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = chattest.InGroup })
			tt.fail(w)
			key, u := w.AcceptText(t, "hi")
			for range 3 {
				require.ErrorIs(t, w.Handle(t.Context(), key, u), inbox.ErrLater)
				require.Equal(t, inbox.Accepted, w.EntryState(key))
			}
			assert.Empty(t, w.Telegram.Texts(), "the inbox says when that is to be told")
			f := inbox.Failure{Key: key, Waits: true, From: chattest.Alice, Conversation: chattest.AtAlice, MessageID: 1001, Update: u}
			require.NoError(t, w.UpdateFailed(t.Context(), f))
			assert.Equal(t, []string{chattest.Warning + w.Word(i18n.PromptWaits)}, w.Telegram.Texts())
			w.Inbox.OnSave, w.Lifecycle.OnQueue = nil, nil
			w.Lifecycle.Forget()
			require.NoError(t, w.Handle(t.Context(), key, u))
			assert.Contains(t, w.Lifecycle.Done(), "queue "+key+" for "+r.ID.String())
			assert.Equal(t, inbox.Held, w.EntryState(key))
		})
	}
}

// A prompt that could not be saved is reported if it cannot be typed at the next try.
func TestP4_UnsavedPromptIsReported(t *testing.T) {
	for _, tt := range []struct {
		name     string
		change   func(w *chattest.World, r session.Record)
		state    inbox.State // of the entry then
		reported func(w *chattest.World) string
	}{
		{"its session is over", func(w *chattest.World, r session.Record) {
			w.Records.Change(r.ID, func(r *session.Record) { r.State = session.Archived })
		}, inbox.Asked, func(w *chattest.World) string {
			return chattest.Lines(chattest.Warning+w.Named(i18n.AlreadyEnded, "api"), w.Word(i18n.NotDelivered))
		}},
		{"its session ends at this moment", func(w *chattest.World, r session.Record) {
			w.Lifecycle.OnQueue = func(uuid.UUID, string) error {
				w.Records.Change(r.ID, func(r *session.Record) { r.State = session.Archived })
				return chattest.Deep(view.ErrNoAgent)
			}
		}, inbox.Asked, func(w *chattest.World) string {
			return chattest.Lines(chattest.Warning+w.Named(i18n.AlreadyEnded, "api"), w.Word(i18n.NotDelivered))
		}},
		{"its session is forgotten", func(w *chattest.World, r session.Record) {
			w.Records.Forget(r.ID)
		}, inbox.Asked, func(w *chattest.World) string { return w.Word(i18n.NobodyAsk) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.NewCurrentSession(t, "api", session.Running)
			w.Lifecycle.OnQueue = func(uuid.UUID, string) error { return chattest.ErrDisk }
			key, u := w.AcceptText(t, "hi")
			require.ErrorIs(t, w.Handle(t.Context(), key, u), inbox.ErrLater)
			w.Lifecycle.OnQueue = nil
			tt.change(w, r)
			require.NoError(t, w.HandleText(t, key, u))
			assert.Equal(t, tt.state, w.EntryState(key))
			assert.Equal(t, []string{tt.reported(w)}, append(w.Telegram.Texts(), w.Telegram.AnswersSent()...))
		})
	}
}

// A tap that cannot queue leaves the question as it was.
func TestP4_FailedTapOnFullDiskRepeats(t *testing.T) {
	for _, tt := range []struct {
		name  string
		state session.State
		word  i18n.Key
	}{{"send", session.Running, i18n.ButtonSend}, {"resume and send", session.Archived, i18n.ButtonResumeAndSend}} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.NewCurrentSession(t, "api", tt.state)
			e := w.Prompt(t, r, "old text", inbox.Held)
			require.NoError(t, w.Review(t.Context(), time.Hour))
			question := w.LastSent(t)
			w.Lifecycle.OnQueue = func(uuid.UUID, string) error { return chattest.ErrDisk }
			w.AssertErrorShown(t, w.TapShown(t, chattest.Alice, question, tt.word))
			require.Equal(t, inbox.Asked, w.EntryState(e.Key))
			w.Lifecycle.OnQueue = nil
			require.NoError(t, w.TapShown(t, chattest.Alice, question, tt.word))
			assert.Equal(t, inbox.Held, w.EntryState(e.Key))
		})
	}
}
