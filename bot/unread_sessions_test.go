package bot_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/ask"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/fleet/wire"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// unread has the sessions of a machine that the bot has never reached.
func unread(t *testing.T, test func(t *testing.T, w *chattest.World, r session.Record)) {
	t.Helper()
	chattest.RunsRemote(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		w.RestartUnread(t)
		test(t, w, r)
	})
}

// TestP6_MessageOfUnreadSessionStaysItsOwn: a session that was never read is not a forgotten one.
func TestP6_MessageOfUnreadSessionStaysItsOwn(t *testing.T) {
	unread(t, func(t *testing.T, w *chattest.World, r session.Record) {
		require.NoError(t, w.Sent(chattest.AtAlice, 99, r.ID))
		id, _ := w.SessionOf(chattest.AtAlice, 99)
		assert.Equal(t, r.ID, id)
		assert.Equal(t, r.ID, w.CurrentID(chattest.AtAlice, 0))
		assert.True(t, w.Unsure(conversation.Message{To: chattest.AtAlice, ReplyTo: 100, OfBot: true}, port.Session{ID: r.ID, State: port.StateRunning}), "there may be others")
	})
}

// TestP6_CommandsOfUnreadSession: no command says that the session has ended, or does not exist.
func TestP6_CommandsOfUnreadSession(t *testing.T) {
	for _, command := range []string{"/status", "/why", "/queue", "/changes", "/mode", "/kill", "/done", "/history", "/screenshot", "/stop", "/list", "/archive",
		"/resume", "/loop", "/rename x", "/kill other", "/at 2h go on", "/get x"} {
		t.Run(command, func(t *testing.T) {
			unread(t, func(t *testing.T, w *chattest.World, r session.Record) {
				before := len(w.Telegram.Texts())
				w.MustHear(t, command)
				w.Work(t)
				said := w.Telegram.Texts()[before:]
				for _, key := range []i18n.Key{i18n.SessionGone, i18n.NoSession, i18n.NoCurrent, i18n.ListEmpty, i18n.ArchiveEmpty, i18n.QuestionsNone} {
					assert.NotContains(t, said, w.Word(key))
				}
				assert.Contains(t, said, w.Word(i18n.MachineUnreachable), "it says %s", said)
				assert.Equal(t, r.ID, w.Current(chattest.AtAlice))
			})
		})
	}
}

// TestP4_TextForUnreadSessionWaits: it is delivered when the machine answers.
func TestP4_TextForUnreadSessionWaits(t *testing.T) {
	unread(t, func(t *testing.T, w *chattest.World, r session.Record) {
		key, u := w.AcceptText(t, "run the tests")
		require.NoError(t, w.Handle(t.Context(), key, u), "later texts of the conversation do not wait")
		assert.Empty(t, w.Lifecycle.Done())
		w.Link.Set(wire.Faults{})
		w.Later(10 * time.Second)
		assert.Contains(t, w.Lifecycle.Done(), "keep "+key+" for "+r.ID.String())
	})
}

// TestP6_RequestOfUnreadSessionStays: an open request is not dropped, and a new one is neither
// accepted nor left to the terminal.
func TestP6_RequestOfUnreadSessionStays(t *testing.T) {
	chattest.RunsRemote(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		w.RestartUnread(t)
		w.Later(3 * chattest.Round)
		assert.Equal(t, ask.StageOpen, w.RequestState(t, q).Stage)
		assert.True(t, w.Has(w.Telegram.LastEdit(t), i18n.AskAllow))
		next := q.Request
		next.ID = "AAAAAAAAAAAAAAAAAAAAAA"
		require.ErrorIs(t, w.OnRequest(t.Context(), next), refusal.ErrUnreachable)
		_, kept := w.Asks.Get(next.ID)
		assert.False(t, kept)
		assert.Empty(t, w.Relay.Done())
	})
}

// TestP4_HeldPromptOfUnreadSessionStays: a prompt of a queue is not called homeless.
func TestP4_HeldPromptOfUnreadSessionStays(t *testing.T) {
	unread(t, func(t *testing.T, w *chattest.World, r session.Record) {
		for _, id := range []uuid.UUID{r.ID, uuid.New()} {
			key := talk.PromptKey(uuid.New())
			_, err := w.Inbox.Add(inbox.Entry{Key: key, State: inbox.Held, Session: id, Conversation: chattest.AtAlice, Text: "run the tests"})
			require.NoError(t, err)
			w.Later(time.Minute)
			w.Restart(t)
			assert.Equal(t, inbox.Held, w.EntryState(key))
		}
	})
}

// TestP6_FoldersOfUnreadMachineAreWhole: without the home folder no path begins with ~.
func TestP6_FoldersOfUnreadMachineAreWhole(t *testing.T) {
	unread(t, func(t *testing.T, w *chattest.World, _ session.Record) {
		assert.Equal(t, "/srv/api", w.Chat.Short("/srv/api"))
		assert.Equal(t, "/home/alice/api", w.Chat.Short("/home/alice/api"))
		w.Link.Set(wire.Faults{})
		assert.Equal(t, "~/api", w.Chat.Short("/home/alice/api"))
		assert.False(t, strings.HasPrefix(w.Chat.Short("/srv/api"), "~"))
	})
}

// TestP5_AnswersOfUnreadSessionsFollow: sessions that a start could not read are read later.
func TestP5_AnswersOfUnreadSessionsFollow(t *testing.T) {
	chattest.RunsRemote(t, func(t *testing.T, w *chattest.World) {
		w.NewCurrentSession(t, "api", session.Completed, chattest.TranscriptOf(t, "t.jsonl", chattest.Says("look")))
		w.RestartUnread(t)
		w.Later(time.Minute)
		assert.Empty(t, w.Telegram.AnswersSent())
		w.Link.Set(wire.Faults{})
		w.Later(time.Minute)
		assert.Equal(t, []string{"look"}, w.Telegram.AnswersSent())
	})
}

// TestBudgetOfUnreadSession: a start that reads no session with a budget looks again.
func TestBudgetOfUnreadSession(t *testing.T) {
	unread(t, func(t *testing.T, w *chattest.World, r session.Record) {
		require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.SessionBudget = 10 }))
		w.Spent.Answer(func(context.Context) (talk.Report, error) {
			line := []talk.Line{{Name: "api", Session: r.ID, Sum: talk.Sum{Cost: 9}}}
			return talk.Report{Spans: []talk.Span{{Sessions: line}, {}, {Sessions: line}}}, nil
		})
		w.Later(time.Minute)
		w.Link.Set(wire.Faults{})
		w.Later(5 * time.Minute)
		assert.NotEmpty(t, saying(t, w, "Budget of"))
	})
}
