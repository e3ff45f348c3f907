package bot_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle/dialog"
	"ccbot/lifecycle/typing"
	"ccbot/port"
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

// A decision is made in the chat that shows all of it: elsewhere there is only a link.
func TestOtherConversationsQuestionIsLink(t *testing.T) {
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

// A truncated request cannot be allowed below before all of it was shown.
func TestP7_TruncatedQuestionNeedsShowAll(t *testing.T) {
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
		assert.False(t, w.Has(w.Shows(t, w.Message(t, three)), i18n.ButtonNextQuestion), "no other is left")
	})
}

// TestWaitingBringsQuestionBelowLateMessage: a message whose id ccbot does not have yet may be
// below the question, so /waiting sends the question again.
func TestWaitingBringsQuestionBelowLateMessage(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, q := asks(t, w, "api", "make")
		first := w.Message(t, q)
		require.NoError(t, w.Sent(chattest.AtAlice, first, r.ID))
		w.MustHear(t, "/list") // the fake notes no id
		w.Work(t)
		w.MustHear(t, "/waiting")
		w.Work(t)
		assert.Equal(t, w.Telegram.LastID(), w.Message(t, q))
		assert.Empty(t, chattest.Words(w.Shows(t, first)))
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

// A link to a question in another conversation leads to the next one as long as there is one.
func TestNextQuestionFollowsLastOne(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		asks(t, w, "api", "one")
		_, two := asks(t, w, "web", "two")
		key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Bob}, Chat: chattest.PrivateChat(chattest.Bob), Text: "/waiting"})
		require.NoError(t, w.HandleText(t, key, u))
		w.Work(t)
		link := w.Telegram.LastID()
		require.True(t, w.Has(w.Shows(t, link), i18n.ButtonNextQuestion))
		w.TapsOn(t, chattest.Alice, two, i18n.AskDeny)
		w.Result(t, two, "deny", "no", true)
		w.Later(time.Second)
		assert.False(t, w.Has(w.Shows(t, link), i18n.ButtonNextQuestion))
	})
}

// The line names the session first whose question is the oldest.
func TestPinnedLineBeginsWithOldestQuestion(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		api := w.Session(t, "api", session.Running)
		asks(t, w, "web", "one")
		w.AsksFor(t, api, "Bash", chattest.Bash)
		w.Later(time.Second)
		shown, _ := lines(w)
		assert.Equal(t, []string{w.Word(i18n.QuestionsLine, i18n.Args{"Count": 2, "Names": "web, api"})}, shown)
	})
}

func TestPinnedLineNamesWhoWaits(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		text := func(names string, n int) string {
			return w.Word(i18n.QuestionsLine, i18n.Args{"Count": n, "Names": names})
		}
		_, one := asks(t, w, "api", "one")
		shown, _ := lines(w)
		assert.Empty(t, shown, "one question needs no line")
		_, two := asks(t, w, "web", "two")
		shown, done := lines(w)
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
func TestQuestionLineNeedsPinRight(t *testing.T) {
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

// stopping is a session that asks while a person sends /stop, and the message that offers what can
// be done.
func stopping(t *testing.T, w *chattest.World, r session.Record) (offer int) {
	t.Helper()
	w.Lifecycle.OnInterrupt = func(uuid.UUID) (bool, error) { return false, chattest.Deep(typing.ErrAsks) }
	require.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, r.ID))
	w.MustHear(t, "/stop")
	w.Work(t)
	offer = w.Telegram.LastID()
	require.Equal(t, w.WordsOf(i18n.ButtonDenyAndStop, i18n.ButtonShowQuestion), chattest.Words(w.Shows(t, offer)))
	require.Equal(t, w.Named(i18n.StopAsked, "api"), w.Shows(t, offer).Text.Text)
	return offer
}

// pressed returns the keys and halts requested from lifecycle.
func pressed(w *chattest.World) (all []string) {
	for _, line := range w.Lifecycle.Done() {
		if strings.HasPrefix(line, "press") || strings.HasPrefix(line, "halt") {
			all = append(all, line)
		}
	}
	return all
}

// No Esc is pressed for a request with a hook: the denial ends the turn. Queued prompts are offered
// first.
func TestP7_StopDeniesOpenRequest(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, q := asks(t, w, "api", "make")
		offer := stopping(t, w, r)
		late := w.Shows(t, offer)
		w.Press(t, chattest.Bob, offer, w.Word(i18n.ButtonDenyAndStop))
		assert.Equal(t, []string{"deny and stop: The user denied this from the chat."}, w.Relay.Done())
		assert.Equal(t, []string{"halt " + r.ID.String()}, pressed(w))
		assert.Equal(t, w.Named(i18n.StopDenied, "api"), w.Shows(t, offer).Text.Text)
		assert.Empty(t, chattest.Words(w.Shows(t, offer)))
		require.NoError(t, w.TapSpot(t, chattest.Alice, w.Spot(t, late, i18n.ButtonDenyAndStop)))
		w.Work(t)
		assert.Len(t, w.Relay.Done(), 1, "a second tap does nothing")
		assert.False(t, w.Asks.List()[0].Answer.Allows())
		assert.Equal(t, q.ID, w.Asks.List()[0].Request.ID)
	})
}

func TestStopShowsOpenQuestion(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, q := asks(t, w, "api", "make")
		offer := stopping(t, w, r)
		w.Press(t, chattest.Alice, offer, w.Word(i18n.ButtonShowQuestion))
		assert.Greater(t, w.Message(t, q), offer)
		assert.Empty(t, w.Relay.Done())
		assert.Empty(t, pressed(w))
	})
}

// Esc is pressed once, in the dialog that was shown when the person asked to stop.
func TestP7_StopPressesEscInShownDialog(t *testing.T) {
	for name, changed := range map[string]bool{"the same dialog": false, "another dialog": true} {
		chattest.RunsAs(t, name, func(t *testing.T, w *chattest.World) {
			r := w.ShowsDialog(t)
			offer := stopping(t, w, r)
			late := w.Shows(t, offer)
			if changed {
				w.Lifecycle.OnPress = func(string) (port.Dialog, error) { return port.Dialog{}, dialog.ErrChanged }
			}
			w.Press(t, chattest.Alice, offer, w.Word(i18n.ButtonDenyAndStop))
			assert.Equal(t, []string{"halt " + r.ID.String(), "press esc of " + r.ID.String() + " for " + chattest.Trust.Fingerprint}, pressed(w))
			assert.Equal(t, changed, slices.Contains(w.Telegram.Texts(), w.Named(i18n.StopChanged, "api")))
			require.NoError(t, w.TapSpot(t, chattest.Alice, w.Spot(t, late, i18n.ButtonDenyAndStop)))
			w.Work(t)
			assert.Len(t, pressed(w), 2, "never a second Esc")
		})
	}
}
