package bot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/internal/session"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// TestSettledMessageIsOneLine: a message that reads that a text waits or was not sent is a plain
// line when the agent has the text, or a person has decided about it.
func TestSettledMessageIsOneLine(t *testing.T) {
	for _, why := range []news.Wait{news.Queued, news.HeldDraft, news.HeldBash, news.HeldUnknown, news.HeldScroll, news.HeldKeys,
		news.HeldSync, news.HeldSmall} {
		chattest.RunsAs(t, string(why), func(t *testing.T, w *chattest.World) {
			r := w.NewCurrentSession(t, "api", session.Running)
			e := w.Prompt(t, r, "deploy", inbox.Held)
			p := talk.Prompt{Key: e.Key}
			require.NoError(t, w.SessionNews(t.Context(), r, news.Held{Why: why, Prompt: p}))
			w.Work(t)
			id := w.Telegram.LastID()
			require.NotZero(t, id)
			w.Becomes(t, e.Key, inbox.Typing)
			require.NoError(t, w.SessionNews(t.Context(), r, news.Delivered{Prompt: p}))
			w.Work(t)
			assert.Equal(t, "Your message was sent to api.", w.Shows(t, id).Text.Text)
			assert.Empty(t, w.Shows(t, id).Buttons)
		})
	}
	for _, tt := range []struct {
		word, want string
		state      session.State
	}{
		{"Send", "api gets this message.", session.Running},
		{"Discard", "Discarded. The message will not be sent.", session.Running},
		{"Discard", "Discarded. The message will not be sent.", session.Archived},
	} {
		chattest.RunsAs(t, tt.word+" "+string(tt.state), func(t *testing.T, w *chattest.World) {
			r := w.NewCurrentSession(t, "api", tt.state)
			w.Prompt(t, r, "deploy", inbox.Held)
			require.NoError(t, w.Review(t.Context(), time.Hour))
			w.Work(t)
			w.Press(t, chattest.Alice, w.Telegram.LastID(), tt.word)
			assert.Equal(t, tt.want, w.Shows(t, w.Telegram.LastID()).Text.Text)
		})
	}
}

// TestSettledPermissionShowsItsReason: the reason of a denial stays in the message of the request.
func TestSettledPermissionShowsItsReason(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		id := w.Message(t, q)
		w.TapsOn(t, chattest.Alice, q, "ask_deny_why")
		w.MustHear(t, "use the bin instead")
		w.Work(t)
		w.Result(t, q, "", "The user denied this from the chat. They wrote: "+w.RequestState(t, q).Answer.Text, true)
		text := w.Shows(t, id).Text.Text
		assert.Contains(t, text, "Denied in the chat")
		assert.Contains(t, text, "use the bin instead")
	})
}

// TestInterruptionIsTheSameLine: each message about a session that died at work has the same line.
func TestInterruptionIsTheSameLine(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Completed)
	w.Records.Change(r.ID, func(r *session.Record) {
		r.Exit = &session.Exit{Known: true, Signal: 9}
		r.Interruption = &session.Interruption{At: chattest.Started, Step: "make test", TasksDone: 3, TasksTotal: 5}
	})
	w.MustHear(t, "/why api")
	require.NoError(t, w.SessionNews(t.Context(), w.Record(t, r.ID), news.Ended{}))
	w.Work(t)
	n := 0
	for _, m := range append(w.Telegram.Texts(), w.Telegram.AnswersSent()...) {
		if assert.NotContains(t, m, "make test"); strings.Contains(m, "It was working when it died.") {
			n++
		}
	}
	assert.Equal(t, 2, n)
}
