package bot_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// reads notes all messages that were sent, as the outbox does.
func reads(t *testing.T, w *chattest.World) {
	t.Helper()
	for i, m := range w.Telegram.Sent {
		require.NoError(t, w.Bot.Sent(m.To, i+1, m.Session))
	}
}

// asks lets the agent of a session ask for a command in Alice's chat.
func asks(t *testing.T, w *chattest.World, name, command string) (session.Record, chattest.Asked) {
	t.Helper()
	r := w.Session(t, name, session.Running)
	q := w.AsksFor(t, r, "Bash", `{"command":"`+command+`"}`)
	w.Later(time.Second)
	return r, q
}

func TestChosenSessionBringsItsQuestion(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.NewCurrentSession(t, "web", session.Running)
		_, q := asks(t, w, "api", "make")
		first := w.Message(t, q)
		w.MustHear(t, "/list")
		w.Work(t)
		reads(t, w)
		list, sent := w.Telegram.LastID(), len(w.Telegram.Sent)
		w.Press(t, chattest.Alice, list, "api ❓")
		below := w.Message(t, q)
		require.Equal(t, sent+1, below)
		assert.Equal(t, w.WordsOf(i18n.AskAllow, i18n.AskDeny, i18n.AskDenyWhy), chattest.Words(w.Shows(t, below)))
		assert.False(t, w.Shows(t, below).Sounds, "the person has just tapped")
		assert.Empty(t, chattest.Words(w.Shows(t, first)))
		assert.True(t, strings.HasSuffix(w.Shows(t, first).Text.Text, w.Word(i18n.QuestionBelow)))

		w.TapsOn(t, chattest.Alice, q, i18n.AskAllow)
		assert.Equal(t, []string{"allow "}, w.Relay.Done(), "the request is the same")
	})
}

// A second tap finds the question at the end of the chat already.
func TestChosenTwiceBringsItsQuestionOnce(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.NewCurrentSession(t, "web", session.Running)
		_, q := asks(t, w, "api", "make")
		w.MustHear(t, "/list")
		w.Work(t)
		list := w.Telegram.LastID()
		reads(t, w)
		w.Press(t, chattest.Alice, list, "api ❓")
		reads(t, w)
		sent := len(w.Telegram.Sent)
		w.Press(t, chattest.Alice, list, "✓ api ❓")
		assert.Len(t, w.Telegram.Sent, sent)
		assert.Equal(t, sent, w.Message(t, q))
	})
}

func TestReplyBringsQuestionOfItsSession(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.NewCurrentSession(t, "web", session.Running)
		r, q := asks(t, w, "api", "make")
		first := w.Message(t, q)
		require.NoError(t, w.Chats.NoteMessage(chattest.AtAlice, 900, r.ID))
		w.Answer(t, 900, "use make")
		w.Work(t)
		assert.Greater(t, w.Message(t, q), first)
		assert.Empty(t, chattest.Words(w.Shows(t, first)))
	})
}

// What is decided is decided where all of it was shown: from elsewhere there is a link only.
func TestQuestionOfAnotherConversationIsALink(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.Session(t, "api", session.Running)
		w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = chattest.InGroup })
		q := w.AsksFor(t, w.Record(t, r.ID), "Bash", chattest.Bash)
		shown := w.Message(t, q)
		w.MustHear(t, "/list")
		w.Work(t)
		w.Press(t, chattest.Alice, w.Telegram.LastID(), "api ❓")
		assert.Equal(t, w.Named(i18n.QuestionElsewhere, "api"), w.Telegram.Last(t).Text.Text)
		assert.Equal(t, chattest.AtAlice, w.Telegram.Last(t).To)
		assert.Equal(t, shown, w.Message(t, q))
		assert.NotEmpty(t, chattest.Words(w.Shows(t, shown)))
	})
}

// A request of which a part is cut cannot be allowed below before all of it was shown.
func TestP7_QuestionBelowIsAllowedAfterAllOfIt(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.NewCurrentSession(t, "web", session.Running)
		_, q := asks(t, w, "api", `echo a\u202eb`)
		w.MustHear(t, "/list")
		w.Work(t)
		reads(t, w)
		w.Press(t, chattest.Alice, w.Telegram.LastID(), "api ❓")
		below := w.Message(t, q)
		assert.False(t, w.Has(w.Shows(t, below), i18n.AskAllow))
		w.TapsOn(t, chattest.Alice, q, i18n.AskShowAll)
		assert.Greater(t, w.Message(t, q), below)
		assert.True(t, w.Has(w.Shows(t, w.Message(t, q)), i18n.AskAllow))
	})
}

func TestWaitingStepsThroughQuestions(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.MustHear(t, "/waiting")
		w.Work(t)
		assert.Equal(t, w.Word(i18n.QuestionsNone), w.Telegram.Last(t).Text.Text)

		_, one := asks(t, w, "api", "one")
		_, two := asks(t, w, "web", "two")
		_, three := asks(t, w, "docs", "three")
		waiting := func() {
			reads(t, w)
			w.MustHear(t, "/waiting")
			w.Work(t)
		}
		waiting()
		assert.Equal(t, len(w.Telegram.Sent), w.Message(t, one), "the oldest first")
		assert.True(t, w.Has(w.LastSent(t), i18n.ButtonNextQuestion))

		reads(t, w)
		w.TapsOn(t, chattest.Alice, one, i18n.ButtonNextQuestion)
		assert.Equal(t, len(w.Telegram.Sent), w.Message(t, two))
		reads(t, w)
		w.TapsOn(t, chattest.Alice, two, i18n.AskDeny)
		w.Result(t, two, "deny", "no", true)
		assert.Equal(t, len(w.Telegram.Sent), w.Message(t, one), "the answer brings the next one")
		reads(t, w)
		w.TapsOn(t, chattest.Alice, one, i18n.ButtonNextQuestion)
		assert.Equal(t, len(w.Telegram.Sent), w.Message(t, three))
		w.TapsOn(t, chattest.Alice, one, i18n.AskDeny)
		w.Result(t, one, "deny", "no", true)
		w.TapsOn(t, chattest.Alice, three, i18n.ButtonNextQuestion)
		assert.Contains(t, w.Telegram.Done(), "answer query: "+w.Word(i18n.QuestionsNoOther))
	})
}

// lines are the pinned lines that people see, and what was done about them.
func lines(w *chattest.World) (shown []string, done []string) {
	for i, m := range w.Telegram.Sent {
		if strings.Contains(m.Text.Text, "/waiting") {
			shown = append(shown, w.Telegram.Now(i+1).Text.Text)
		}
	}
	for _, line := range w.Telegram.Done() {
		if strings.HasPrefix(line, "pin ") || strings.HasPrefix(line, "delete ") {
			done = append(done, strings.Fields(line)[0])
		}
	}
	return shown, done
}

func TestPinnedLineNamesWhoWaits(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		text := func(names string, n int) string {
			return w.Word(i18n.QuestionsLine, i18n.Args{"Count": n, "Names": names})
		}
		_, one := asks(t, w, "api", "one")
		shown, done := lines(w)
		assert.Empty(t, shown, "one question needs no line")
		_, two := asks(t, w, "web", "two")
		shown, done = lines(w)
		assert.Equal(t, []string{text("api, web", 2)}, shown)
		assert.Equal(t, []string{"pin"}, done)
		asks(t, w, "docs", "three")
		shown, done = lines(w)
		assert.Equal(t, []string{text("api, web, docs", 3)}, shown, "the same message")
		assert.Equal(t, []string{"pin"}, done)
		assert.False(t, slices.ContainsFunc(w.Telegram.Sent, func(m outbox.Message) bool {
			return m.Sounds && strings.Contains(m.Text.Text, "/waiting")
		}))
		w.Restart(t)
		shown, done = lines(w)
		assert.Len(t, shown, 1)
		assert.Equal(t, []string{"pin"}, done)
		for _, q := range []chattest.Asked{one, two} {
			w.TapsOn(t, chattest.Alice, q, i18n.AskDeny)
			w.Result(t, q, "deny", "no", true)
		}
		shown, _ = lines(w)
		assert.Equal(t, []string{text("docs", 1)}, shown)
	})
}

func TestPinnedLineGoesWithLastQuestion(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, one := asks(t, w, "api", "one")
		_, two := asks(t, w, "web", "two")
		for _, q := range []chattest.Asked{one, two} {
			w.TapsOn(t, chattest.Alice, q, i18n.AskDeny)
			w.Result(t, q, "deny", "no", true)
		}
		_, done := lines(w)
		assert.Equal(t, []string{"pin", "delete"}, done)
	})
}

// Without the right to pin there is no line, and /health reports that.
func TestWithoutRightToPinThereIsNoLine(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.Telegram.OnPin = func() error { return &outbox.Refused{Err: chattest.ErrDisk} }
		asks(t, w, "api", "one")
		asks(t, w, "web", "two")
		asks(t, w, "docs", "three")
		_, done := lines(w)
		assert.Equal(t, []string{"pin", "delete"}, done, "it is tried once")
		assert.Equal(t, 1, w.Bot.Asking.Unpinned())
		assert.Equal(t, 4, len(w.Telegram.Sent), "three questions and the line that is gone")
	})
}

func TestUnansweredQuestionSoundsAgain(t *testing.T) {
	for name, quiet := range map[string]bool{"by day": false, "in quiet hours": true} {
		chattest.RunsAs(t, name, func(t *testing.T, w *chattest.World) {
			w.Config.RemindAfter = 15 * time.Minute
			w.Restart(t)
			_, q := asks(t, w, "api", "one")
			if quiet {
				now := w.Now().Local()
				from := now.Hour()*60 + now.Minute()
				require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) {
					s.Quiet = &conversation.Hours{From: from, Until: (from + 120) % (24 * 60)}
				}))
			}
			var came []time.Duration
			began, last := w.Now(), w.Message(t, q)
			for range 24 * 4 {
				w.Later(5 * time.Minute)
				if now := w.Message(t, q); now != last {
					last = now
					came = append(came, w.Now().Sub(began).Round(5*time.Minute))
					assert.True(t, w.Shows(t, now).Sounds)
				}
			}
			want := []time.Duration{15 * time.Minute, 30 * time.Minute, 45 * time.Minute}
			if quiet {
				want = []time.Duration{120 * time.Minute, 135 * time.Minute, 150 * time.Minute}
			}
			require.Len(t, came, 3, "at most three times")
			for i := range want {
				assert.InDelta(t, want[i].Minutes(), came[i].Minutes(), 6)
			}
			w.TapsOn(t, chattest.Alice, q, i18n.AskAllow)
			assert.Equal(t, []string{"allow "}, w.Relay.Done())
		})
	}
}
