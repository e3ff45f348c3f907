package bot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/naming"
	"ccbot/internal/session"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// behind returns the sentence with the number of prompts that wait after a question's prompt.
func behind(w *chattest.World, n int) string {
	return w.Word(i18n.WaitsBehind, i18n.Args{"Count": n})
}

// TestP4_QuestionCountsWaitingPrompts: no text that a person sends while a question stands goes
// unmentioned, and what waits keeps its order.
func TestP4_QuestionCountsWaitingPrompts(t *testing.T) {
	chattest.RunsAs(t, "a draft", func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		first := w.MustHear(t, "first")
		held := news.Held{Why: news.HeldDraft, Prompt: talk.Prompt{Key: first}}
		require.NoError(t, w.SessionNews(t.Context(), r, held))
		w.Work(t)
		question := w.Telegram.LastID()
		assert.NotContains(t, w.Shows(t, question).Text.Text, "behind", "nothing does")
		second := w.MustHear(t, "second")
		assert.Contains(t, w.Shows(t, question).Text.Text, behind(w, 1))
		third := w.MustHear(t, "third")
		assert.Contains(t, w.Shows(t, question).Text.Text, behind(w, 2))
		require.NoError(t, w.Lifecycle.Withdraw(t.Context(), r.ID, second, 9))
		fourth := w.MustHear(t, "fourth")
		assert.Contains(t, w.Shows(t, question).Text.Text, behind(w, 2), "one has left, and one has come")

		w.Press(t, chattest.Alice, question, w.Word(i18n.ButtonSendAnyway))
		assert.Contains(t, w.Lifecycle.Done(), "send anyway "+first+" for "+r.ID.String())
		now := w.Record(t, r.ID)
		assert.Equal(t, []string{first, third, fourth}, now.Prompts, "the queue is as it was written")
		shown := w.Shows(t, question)
		assert.Empty(t, shown.Buttons)
		assert.Equal(t, w.Word(i18n.SentAnyway), shown.Text.Text)
	})
	chattest.RunsAs(t, "a request", func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		w.MustHear(t, "first")
		w.Work(t)
		w.MustHear(t, "second")
		offer := w.Offer(t, q)
		assert.Contains(t, w.Shows(t, offer.Message).Text.Text, w.Word(i18n.TextsQueued, i18n.Args{"Count": 2}))
		w.Restart(t)
		w.MustHear(t, "third")
		assert.Contains(t, w.Shows(t, offer.Message).Text.Text, w.Word(i18n.TextsQueued, i18n.Args{"Count": 3}), "also after a restart")
	})
}

// A question about a waiting prompt shows when the prompt no longer waits.
func TestP4_QuestionShowsPromptWasSent(t *testing.T) {
	for _, why := range []news.Wait{news.Queued, news.HeldDraft} {
		chattest.RunsAs(t, string(why), func(t *testing.T, w *chattest.World) {
			r := w.NewCurrentSession(t, "api", session.Running)
			about := talk.Prompt{Key: w.MustHear(t, "first")}
			require.NoError(t, w.SessionNews(t.Context(), r, news.Held{Why: why, Prompt: about}))
			w.Work(t)
			question := w.Telegram.LastID()
			w.MustHear(t, "second")
			require.Contains(t, w.Shows(t, question).Text.Text, behind(w, 1))
			require.NoError(t, w.SessionNews(t.Context(), r, news.Delivered{Prompt: about}))
			w.Work(t)
			assert.Equal(t, w.Named(i18n.PromptSent, "api"), w.Shows(t, question).Text.Text)
		})
	}
}

// A question without buttons names none.
func TestClosedQuestionNamesNoButton(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, q := w.Asking(t)
		_, notice := w.HeldBehind(t, r)
		w.Result(t, q, "", "ok", false)
		assert.Equal(t, w.Word(i18n.TextsWaited, i18n.Args{"Name": "api", "Count": 1}), w.Shows(t, notice).Text.Text)
		assert.Empty(t, w.Shows(t, notice).Buttons)
	})
}

// A session that has just ended is known by its name, and the way back is offered.
func TestEndedSessionIsNamed(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Completed)
	w.Records.Change(r.ID, func(r *session.Record) { r.EndedAt = w.Now().Add(-5 * time.Minute) })
	const says = "api: done, 5 min ago"
	for _, command := range []string{"/stop api", "/kill api", "/done " + naming.ShortID(r.ID)} {
		w.MustHear(t, command)
		m := w.Telegram.Last(t)
		assert.Equal(t, says, m.Text.Text, command)
		assert.Equal(t, w.WordsOf(i18n.ButtonResume), chattest.Words(m))
	}
	require.NoError(t, w.TapShown(t, chattest.Alice, w.Telegram.Last(t), i18n.ButtonResume))
	assert.Equal(t, chattest.Restores(r), w.Restored())
}

// TestWhySaysThatASessionCrashed: the record calls it completed, which would say less.
func TestWhySaysThatASessionCrashed(t *testing.T) {
	for word, exit := range map[i18n.Key]session.Exit{
		i18n.CrashedStatus: {Known: true, Status: 3}, i18n.CrashedSignal: {Known: true, Signal: 9}} {
		w := chattest.NewWorld(t)
		r := w.NewCurrentSession(t, "api", session.Completed)
		w.Records.Change(r.ID, func(r *session.Record) { r.Exit = &exit })
		w.MustHear(t, "/why api")
		says := w.Word(word, i18n.Args{"Name": "api", "Status": exit.Status, "Signal": exit.Signal})
		assert.Equal(t, chattest.Lines(says, "api: crashed, 2 h ago. There is no history."), w.Telegram.Last(t).Text.Text)
	}
}

// TestP4_ReasonForEndedRequestNeedsConfirmation: the request has noted the text, and a crash
// came before the text was kept.
func TestP4_ReasonForEndedRequestNeedsConfirmation(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		w.TapsOn(t, chattest.Alice, q, i18n.AskDenyWhy)
		w.Result(t, q, "", "ok", false)
		w.Inbox.OnSave = func(inbox.Entry) error { return chattest.ErrDisk }
		key, u := w.AcceptText(t, "no, never")
		require.Error(t, w.HandleText(t, key, u))
		w.Inbox.OnSave = nil
		w.Restart(t)
		require.NoError(t, w.HandleText(t, key, u))
		assert.Equal(t, inbox.Asked, w.EntryState(key))
		assert.NotContains(t, strings.Join(w.Lifecycle.Done(), "\n"), "queue")
	})
}
