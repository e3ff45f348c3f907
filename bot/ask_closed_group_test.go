package bot_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/ask"
	"ccbot/bot/chat/chattest"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// TestRequestInClosedGroupComesInPrivate: while its topic and General are closed, a request is
// answered in the private chat of who started the session, also one that is open already.
func TestRequestInClosedGroupComesInPrivate(t *testing.T) {
	for name, shutsLater := range map[string]bool{"it comes then": false, "it is open already": true} {
		chattest.RunsAs(t, name, func(t *testing.T, w *chattest.World) {
			r := w.NewCurrentSession(t, "api", session.Running)
			require.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, w.Session(t, "mine", session.Running).ID))
			w.Records.Change(r.ID, func(r *session.Record) { r.Conversation, r.Owner = chattest.InGroup, chattest.Alice })
			q := w.Request(t, w.Record(t, r.ID), "Bash", chattest.Bash)
			if !shutsLater {
				w.Telegram.Shut = chattest.InGroup
			}
			require.NoError(t, w.OnRequest(t.Context(), q.Request))
			w.Work(t)
			w.Telegram.Shut = chattest.InGroup
			ask.WakeAll(w.Requests)
			w.Work(t)
			assert.Equal(t, chattest.AtAlice, w.RequestState(t, q).Conversation)
			sent := w.Telegram.Sent[len(w.Telegram.Sent)-1]
			assert.Equal(t, chattest.AtAlice, sent.To)
			assert.Empty(t, w.Relay.Done(), "the hook waits")
			w.TapsOn(t, chattest.Alice, q, i18n.AskAllow)
			assert.Equal(t, []string{"allow "}, w.Relay.Done())
		})
	}
}
