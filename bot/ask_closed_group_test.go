package bot_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/ask"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
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

// TestRequestInClosedGroupSkipsPrivateChatThatRefuses: if the chat of who started the session takes
// nothing, also since the request is there, another person gets it.
func TestRequestInClosedGroupSkipsPrivateChatThatRefuses(t *testing.T) {
	for name, refusesLater := range map[string]bool{"it comes then": false, "it is there already": true} {
		chattest.RunsAs(t, name, func(t *testing.T, w *chattest.World) {
			r := w.NewCurrentSession(t, "api", session.Running)
			atBob := session.Conversation{ChatID: chattest.Bob}
			require.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, w.Session(t, "mine", session.Running).ID))
			require.NoError(t, w.Chats.SetCurrent(atBob, w.Session(t, "his", session.Running).ID))
			w.Records.Change(r.ID, func(r *session.Record) { r.Conversation, r.Owner = chattest.InGroup, chattest.Alice })
			q := w.Request(t, w.Record(t, r.ID), "Bash", chattest.Bash)
			w.Telegram.Shut = chattest.InGroup
			if !refusesLater {
				w.Telegram.OnParked = map[int64]bool{chattest.Alice: true}
			}
			require.NoError(t, w.OnRequest(t.Context(), q.Request))
			w.Work(t)
			w.Telegram.OnParked = map[int64]bool{chattest.Alice: true}
			ask.WakeAll(w.Requests)
			w.Work(t)
			assert.Equal(t, atBob, w.RequestState(t, q).Conversation)
			assert.Equal(t, atBob, w.Telegram.Sent[len(w.Telegram.Sent)-1].To)
			assert.Empty(t, w.Relay.Done(), "the hook waits")
			w.TapsOn(t, chattest.Bob, q, i18n.AskAllow)
			assert.Equal(t, []string{"allow "}, w.Relay.Done())
		})
	}
}

// TestRefusedRequestIsReportedOnceItIsSaved: what the private chats read is on disk already.
func TestRefusedRequestIsReportedOnceItIsSaved(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		var q chattest.Asked
		inTerminal := w.Named(i18n.AskInTerminal, "api")
		reported := 0
		w.Telegram.OnPost = func(m outbox.Message) error {
			if strings.Contains(m.Text.Text, inTerminal) {
				reported++
				assert.Equal(t, ask.StageAway, w.RequestState(t, q).Stage)
			}
			return nil
		}
		w.Telegram.OnSend = func(context.Context, outbox.Message) error { return &outbox.Refused{Err: errors.New("bad request")} }
		r := w.NewCurrentSession(t, "api", session.Running)
		q = w.Request(t, r, "Bash", chattest.Bash)
		require.NoError(t, w.OnRequest(t.Context(), q.Request))
		w.Work(t)
		assert.Equal(t, 1, reported)
		assert.Equal(t, []string{"leave"}, w.Relay.Done())
	})
}
