package bot_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// An undecided message is not a question of the agent: the session is idle, and its next prompt
// ends the count.
func TestUndecidedMessageIsNoQuestion(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		w.Lifecycle.OnLook = view.Status{Phase: talk.PhaseIdle, Now: talk.Activity{Phase: talk.PhaseIdle}, Attachment: view.Detached}
		e := w.Prompt(t, r, "deploy", inbox.Held)
		require.NoError(t, w.SessionNews(t.Context(), r, news.TakenBack{Prompt: talk.Prompt{Key: e.Key, Text: e.Text}}))
		w.Work(t)
		undecided := w.Telegram.LastID()
		require.True(t, w.Has(w.Shows(t, undecided), i18n.ButtonSend))

		list := func() (text string, words []string) {
			w.MustHear(t, "/list")
			w.Work(t)
			m := w.Telegram.Last(t)
			return m.Text.Text, chattest.Words(m)
		}
		text, words := list()
		assert.Contains(t, text, "💤 ✓ api · "+w.Word(i18n.PhaseIdle)+" · ✉1")
		assert.Equal(t, []string{"✓ api ✉1", w.Word(i18n.ButtonEndIdle)}, words)
		w.MustHear(t, "/queue")
		w.Work(t)
		assert.Contains(t, w.Telegram.Last(t).Text.Text, w.Word(i18n.UndecidedCount, i18n.Args{"Count": 1}))

		next := w.Prompt(t, r, "of a script", inbox.Held)
		require.NoError(t, w.SessionNews(t.Context(), r, news.Delivered{Prompt: talk.Prompt{Key: next.Key}}))
		text, _ = list()
		assert.Contains(t, text, "✉1", "no person has sent it")

		key := w.MustHear(t, "go on")
		require.NoError(t, w.SessionNews(t.Context(), r, news.Delivered{Prompt: talk.Prompt{Key: key}}))
		w.Records.Change(r.ID, func(r *session.Record) { r.Prompts = nil })
		require.NoError(t, w.Inbox.Finish(key))
		w.Work(t)
		text, words = list()
		assert.NotContains(t, text, "✉")
		assert.Equal(t, []string{"✓ api", w.Word(i18n.ButtonEndIdle)}, words)
		assert.True(t, w.Has(w.Shows(t, undecided), i18n.ButtonSend), "its buttons stay")
	})
}

// TestSentTextLeavesOthersUndecided sends one of three texts that a stop took back.
func TestSentTextLeavesOthersUndecided(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		var keys []string
		for _, text := range []string{"one", "two", "three"} {
			key := w.MustHear(t, text)
			keys = append(keys, key)
			time.Sleep(time.Second)
		}
		for _, key := range keys {
			require.NoError(t, w.SessionNews(t.Context(), w.Record(t, r.ID), news.TakenBack{Prompt: talk.Prompt{Key: key}}))
		}
		w.Work(t)
		w.Records.Change(r.ID, func(r *session.Record) { r.Prompts = nil })
		w.Press(t, chattest.Alice, w.Telegram.LastID(), "3. "+w.Word(i18n.ButtonSend))
		require.NoError(t, w.SessionNews(t.Context(), w.Record(t, r.ID), news.Delivered{Prompt: talk.Prompt{Key: keys[2]}}))
		require.NoError(t, w.Inbox.Finish(keys[2]))
		w.Records.Change(r.ID, func(r *session.Record) { r.Prompts = nil })
		w.Work(t)
		assert.Equal(t, 2, w.Deps.Cards.Needs(r.ID).Decisions)
		w.MustHear(t, "/queue")
		w.Work(t)
		assert.Contains(t, w.Telegram.Last(t).Text.Text, w.Word(i18n.UndecidedCount, i18n.Args{"Count": 2}))
		time.Sleep(time.Second)
		next := w.MustHear(t, "go on")
		require.NoError(t, w.SessionNews(t.Context(), w.Record(t, r.ID), news.Delivered{Prompt: talk.Prompt{Key: next}}))
		assert.Zero(t, w.Deps.Cards.Needs(r.ID).Decisions)
	})
}
