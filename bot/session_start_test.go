package bot_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port/news"
)

// TestSessionStartIsOneMessage: the message that says that a session starts, or comes
// back, is edited when the session is ready, and sent as that where it still waits.
func TestSessionStartIsOneMessage(t *testing.T) {
	ready := func(t *testing.T, w *chattest.World, r session.Record) {
		require.NoError(t, w.SessionNews(t.Context(), w.Record(t, r.ID), news.Ready{}))
	}
	for _, tt := range []struct {
		name   string
		begins func(t *testing.T, w *chattest.World) session.Record
		says   i18n.Key
	}{
		{"a start", func(t *testing.T, w *chattest.World) session.Record {
			w.MustHear(t, "/new api ~/api")
			r, _ := w.CurrentSession(chattest.AtAlice, 0)
			return w.Record(t, r.ID)
		}, i18n.Started},
		{"a resume", func(t *testing.T, w *chattest.World) session.Record {
			r := w.Session(t, "api", session.Archived)
			w.MustHear(t, "/resume api")
			return r
		}, i18n.Resuming},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := tt.begins(t, w)
			begun := w.Word(tt.says, i18n.Args{"Name": "api", "Dir": "~/api"})
			require.Equal(t, []string{begun}, w.Telegram.Texts())
			w.Again() // the program may end between the two
			ready(t, w, r)
			both := chattest.Lines(begun, w.Named(i18n.Ready, "api"))
			assert.Equal(t, both, w.Telegram.LastEdit(t).Text.Text)
			assert.Len(t, w.Telegram.Texts(), 1)

			ready(t, w, r) // as after a restart of the computer
			assert.Equal(t, w.Named(i18n.Ready, "api"), w.Telegram.Last(t).Text.Text)
			assert.Len(t, w.Telegram.Edited, 1)
		})
	}
	t.Run("it waits for its turn", func(t *testing.T) {
		w := chattest.NewWorld(t)
		r := w.Session(t, "api", session.Archived)
		w.Telegram.OnSend = func(context.Context, outbox.Message) error { return errors.New("not yet") }
		w.MustHear(t, "/resume api")
		ready(t, w, r)
		require.Empty(t, w.Telegram.Texts())
		w.Telegram.OnSend = nil
		w.Work(t)
		assert.Equal(t, []string{chattest.Lines(w.Word(i18n.Resuming, i18n.Args{"Name": "api", "Dir": "~/api"}), w.Named(i18n.Ready, "api"))},
			w.Telegram.Texts())
		assert.Empty(t, w.Telegram.Edited)
	})
	t.Run("another launch than the one that was told", func(t *testing.T) {
		w := chattest.NewWorld(t)
		r := w.Session(t, "api", session.Archived)
		w.MustHear(t, "/resume api")
		w.Records.Change(r.ID, func(r *session.Record) { r.StartedAt = chattest.Started.Add(1) })
		ready(t, w, r)
		assert.Equal(t, w.Named(i18n.Ready, "api"), w.Telegram.Last(t).Text.Text)
		assert.Empty(t, w.Telegram.Edited)
	})
}

// If another session is current, the notice does not ask people to write to the ready one.
func TestReadySessionNamesCurrentOne(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "web", session.Running)
	r := w.Session(t, "api", session.Archived)
	require.NoError(t, w.SessionNews(t.Context(), w.Record(t, r.ID), news.Ready{}))
	assert.Equal(t, w.Word(i18n.ReadyBeside, i18n.Args{"Name": "api", "Current": "web"}), w.Telegram.Last(t).Text.Text)
}
