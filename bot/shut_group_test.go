package bot_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// TestP4_GroupThatRefusesIsNamedInPrivate: the bot was removed from a group while an agent asks
// there. The private chat names the session, and a tap shows it with its question there.
func TestP4_GroupThatRefusesIsNamedInPrivate(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		require.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, w.Session(t, "mine", session.Running).ID))
		r, held, q := w.SettledIn(t, session.Conversation{ChatID: chattest.Ours})
		w.Shut.Look()
		w.Work(t)
		assert.Empty(t, w.Shut.Groups())

		w.Telegram.OnParked = map[int64]bool{chattest.Ours: true}
		w.Shut.Look()
		w.Work(t)
		id := w.Telegram.LastID()
		named := w.Telegram.Sent[id-1]
		assert.Equal(t, chattest.AtAlice, named.To)
		assert.Contains(t, named.Text.Text, "A group no longer takes the messages of this bot")
		assert.Contains(t, named.Text.Text, "api")
		assert.Equal(t, []int64{chattest.Ours}, w.Shut.Groups())

		require.NoError(t, w.TapOnShown(t, chattest.Alice, id, i18n.ButtonMoveHere))
		w.Work(t)
		assert.Empty(t, w.Shut.Groups())
		assert.Equal(t, chattest.AtAlice, w.Record(t, r.ID).Conversation)
		e, err := w.Inbox.Load(held.Key)
		require.NoError(t, err)
		assert.Equal(t, chattest.AtAlice, e.Conversation)
		assert.Equal(t, chattest.AtAlice, w.RequestState(t, q).Conversation)
		var texts string
		for _, m := range w.Telegram.Sent[id:] {
			assert.Equal(t, chattest.AtAlice, m.To)
			texts += m.Text.Text
		}
		assert.Contains(t, texts, "go test", "the request")
		assert.Contains(t, texts, "Do you trust", "the dialog")
	})
}

// A running turn comes along, with its requests: nobody could answer them in the group. Nothing is said there.
func TestP4_RunningTurnLeavesGroupThatRefuses(t *testing.T) {
	for name, next := range map[string]session.Conversation{"": {}, "before, from the next turn on": chattest.AtAlice} {
		t.Run(name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			require.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, w.Session(t, "mine", session.Running).ID))
			r := w.Session(t, "api", session.Running)
			w.Records.Change(r.ID, func(r *session.Record) {
				r.Conversation, r.Next, r.Progress.Turns, r.Phase = chattest.InGroup, next, 42, string(talk.PhaseWorking)
			})
			w.Telegram.OnParked = map[int64]bool{chattest.Ours: true}
			require.NoError(t, w.Shut.Report(t.Context()))
			w.Telegram.Deliver(t.Context())
			require.NoError(t, w.TapOnShown(t, chattest.Alice, w.Telegram.LastID(), i18n.ButtonMoveHere))
			w.Telegram.Deliver(t.Context())
			assert.Equal(t, chattest.AtAlice, w.Record(t, r.ID).Conversation)
			for _, m := range w.Telegram.ShownOnce() {
				assert.NotEqual(t, chattest.InGroup, m.To, m.Text.Text)
			}
		})
	}
}

// After a restart the group may refuse messages still: its card stays until the group takes one.
func TestGroupRefusesAfterRestart(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.NewCurrentSession(t, "mine", session.Running)
		r := w.Session(t, "api", session.Running)
		w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = chattest.InGroup })
		w.Telegram.OnParked, w.Telegram.Noted = map[int64]bool{chattest.Ours: true}, map[int64]bool{chattest.Ours: true}
		w.Shut.Look()
		w.Work(t)
		id := w.Telegram.LastID()
		w.Telegram.OnParked = nil // as after a start
		w.Restart(t)
		assert.Equal(t, []int64{chattest.Ours}, w.Shut.Groups())
		assert.Contains(t, w.Shows(t, id).Text.Text, "A group no longer takes the messages of this bot")
		assert.NotEmpty(t, w.Shows(t, id).Buttons)

		delete(w.Telegram.Noted, chattest.Ours)
		w.Shut.Look()
		w.Work(t)
		assert.Empty(t, w.Shut.Groups())
		assert.Equal(t, w.Word(i18n.GroupTakesAgain), w.Shows(t, id).Text.Text)
	})
}

// A group whose sessions have ended is no fault any more.
func TestGroupThatRefusesWithoutSessions(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.NewCurrentSession(t, "mine", session.Running)
		r := w.Session(t, "api", session.Running)
		w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = chattest.InGroup })
		w.Telegram.OnParked = map[int64]bool{chattest.Ours: true}
		w.Shut.Look()
		w.Work(t)
		id := w.Telegram.LastID()
		require.NotEmpty(t, w.Shows(t, id).Buttons)
		require.Equal(t, []int64{chattest.Ours}, w.Shut.Groups())
		w.Records.Change(r.ID, func(r *session.Record) { r.State = session.Archived })
		assert.Empty(t, w.Shut.Groups())
		require.NoError(t, w.SessionNews(t.Context(), w.Record(t, r.ID), news.Ended{}))
		w.Work(t)
		assert.Empty(t, w.Shows(t, id).Buttons, "nothing is left to move")
	})
}
