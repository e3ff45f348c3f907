package bot_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/ask"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// TestP8_OtherSessionsNewsBlocksNothing: there is news every second, and a hook that did not
// come back is found all the same.
func TestP8_OtherSessionsNewsBlocksNothing(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		other := w.AsksFor(t, w.Session(t, "web", session.Running), "Bash", chattest.Bash)
		w.HangsUp(q)
		for range 40 {
			require.NoError(t, w.OnRequest(t.Context(), other.Request))
			w.Later(time.Second)
		}
		assert.Equal(t, ask.StageAway, w.RequestState(t, q).Stage)
	})
}

// TestP8_PartialOutcomeHasTimeout, even if news comes all the time.
func TestP8_PartialOutcomeHasTimeout(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		other := w.AsksFor(t, w.Session(t, "web", session.Running), "Bash", chattest.Bash)
		w.Refused(t, q, false)
		w.Later(chattest.Round)
		require.Equal(t, ask.StageOpen, w.RequestState(t, q).Stage, "half of it is known")
		for range 20 {
			require.NoError(t, w.OnRequest(t.Context(), other.Request))
			w.Later(100 * time.Millisecond)
		}
		assert.Equal(t, ask.Denied, w.RequestState(t, q).Outcome.What)
	})
}

// TestP8_DeliveredDecisionIsKnownAfterRestart: then the message says sent.
func TestP8_DeliveredDecisionIsKnownAfterRestart(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		w.TapsOn(t, chattest.Alice, q, i18n.AskAllow)
		edits := len(w.Telegram.Edited)
		assert.Equal(t, 1, edits, "one edit, and not two")
		w.Restart(t)
		assert.False(t, w.RequestState(t, q).Given.IsZero())
		assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, w.AllowedText(i18n.AskSent))
	})
}

func TestRunningBotForgetsOldCards(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		w.Restart(t)
		w.Result(t, q, "", "ok", false)
		w.Later(7*24*time.Hour - time.Hour)
		assert.Len(t, w.Asks.List(), 1)
		w.Later(25*time.Hour + chattest.Round) // it is checked once a day
		assert.Empty(t, w.Asks.List())
	})
}

func TestOutcomeOfLeftRequest(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(w *chattest.World, r session.Record, q chattest.Asked)
		desk bool
	}{
		{"the dialog is gone", func(w *chattest.World, r session.Record, _ chattest.Asked) {
			_ = w.SessionNews(context.Background(), r, news.DialogGone{})
		}, true},
		{"the hook is gone", func(w *chattest.World, _ session.Record, q chattest.Asked) {
			w.HangsUp(q)
			w.OnLeft(context.Background(), q.Request)
		}, false},
	} {
		chattest.RunsAs(t, tt.name, func(t *testing.T, w *chattest.World) {
			r, q := w.Asking(t)
			tt.do(w, r, q)
			w.Work(t)
			assert.Equal(t, tt.desk, w.RequestState(t, q).InTerminal)
			assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, w.Word(i18n.AskAway))
			w.Later(26 * time.Hour)
			assert.Equal(t, ask.Unknown, w.RequestState(t, q).Outcome.What)
		})
	}
}

func TestLateDenyWithThisDoesNothing(t *testing.T) {
	for name, n := range map[string]news.News{"the dialog is gone": news.DialogGone{}, "it is over": news.Ended{}} {
		chattest.RunsAs(t, name, func(t *testing.T, w *chattest.World) {
			r, _ := w.Asking(t)
			_, notice := w.HeldBehind(t, r)
			require.NoError(t, w.SessionNews(t.Context(), r, n))
			w.Work(t)
			w.PressLate(t, chattest.Alice, notice, w.Word(i18n.ButtonDenyWith))
			assert.Contains(t, w.Telegram.Done(), "answer query: "+w.Word(i18n.StaleButton))
			assert.Empty(t, w.Shows(t, notice).Buttons)
		})
	}
}

// TestSubagentRequestDelaysNoPrompt: the session takes prompts in between.
func TestSubagentRequestDelaysNoPrompt(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		q := w.Request(t, r, "Bash", chattest.Bash)
		q.SubagentID, q.Subagent = "ac2a379c5157a4c20", "general-purpose"
		w.Dials(q)
		require.NoError(t, w.OnRequest(t.Context(), q.Request))
		w.Work(t)
		key := w.MustHear(t, "a prompt")
		assert.Empty(t, w.Telegram.Posted)
		require.NoError(t, w.SessionNews(t.Context(), r, news.Held{Why: news.HeldDialog, Prompt: talk.Prompt{Key: key}}))
		w.Work(t)
		assert.Contains(t, w.LastSent(t).Text.Text, w.Named(i18n.HeldDialog, "api"))
	})
}

// The prompts that wait for one dialog have one reply, as those that wait for a turn do.
func TestPromptsAwaitingDialogHaveOneReply(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	for range 3 {
		key := w.MustHear(t, "a prompt")
		w.Records.Change(r.ID, func(r *session.Record) { r.Prompts = append(r.Prompts, key) })
		require.NoError(t, w.SessionNews(t.Context(), w.Record(t, r.ID), news.Held{Why: news.HeldDialog, Prompt: talk.Prompt{Key: key}}))
		require.NoError(t, w.Inbox.Change(key, func(e *inbox.Entry) error { e.Reported = []news.Wait{news.HeldDialog}; return nil }))
	}
	require.Len(t, w.Telegram.AnswersSent(), 1)
	assert.Contains(t, w.Telegram.AnswersSent()[0], w.Named(i18n.HeldDialog, "api"))
}

// A prompt offered during one request may later wait for another.
func TestPromptIsOfferedForEachRequest(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, one := w.Asking(t)
		key := w.MustHear(t, "use make")
		w.Result(t, one, "", "ok", false)
		two := w.AsksFor(t, r, "Bash", `{"command":"ls"}`)
		require.NoError(t, w.SessionNews(t.Context(), r, news.Held{Why: news.HeldDialog, Prompt: talk.Prompt{Key: key}}))
		w.Work(t)
		e, err := w.Inbox.Load(key)
		require.NoError(t, err)
		list := w.Offer(t, two).Message
		assert.Less(t, list, w.Message(t, two), "the question is the last message")
		assert.Equal(t, e.MessageID, w.Shows(t, list).ReplyTo)
		assert.True(t, w.Has(w.Shows(t, list), i18n.ButtonDenyWith))
		assert.True(t, w.Offer(t, one).Closed)
		w.Press(t, chattest.Alice, list, w.Word(i18n.ButtonDenyWith))
		assert.Equal(t, ask.StageSent, w.RequestState(t, two).Stage, "the second one is denied with it")
	})
}

func TestShowAllRunsOnce(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		input, err := json.Marshal(map[string]string{"command": strings.Repeat("echo hello\n", 500)})
		require.NoError(t, err)
		q := w.AsksFor(t, r, "Bash", string(input))
		before := len(w.Telegram.Sent)
		w.Telegram.OnSend = func(context.Context, outbox.Message) error {
			w.Telegram.OnSend = nil
			return w.Pressing(t, chattest.Alice, 1, w.Word(i18n.AskShowAll)) // while the first part is under way
		}
		w.TapsOn(t, chattest.Alice, q, i18n.AskShowAll)
		parts := len(w.Telegram.Sent) - before
		all := ask.Viewer{Words: w.In(chattest.AtAlice).Words, Home: w.Home}.All(w.RequestState(t, q))
		assert.Equal(t, len(all)+1, parts, "and the message again")
		assert.False(t, w.Has(w.LastSent(t), i18n.AskShowAll))
		w.PressLate(t, chattest.Alice, 1, w.Word(i18n.AskShowAll))
		assert.Len(t, w.Telegram.Sent, before+parts)
	})
}

// A refused tap must not prevent another tap's decision from reaching the hook.
func TestP8_RefusedTapLeavesOther(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		taken := make(chan struct{})
		w.Relay.Decides(func() error {
			w.Relay.Add("asked")
			<-taken
			return nil
		})
		tapped := make(chan error)
		go func() { tapped <- w.Pressing(t, chattest.Alice, 1, w.Word(i18n.AskAllow)) }()
		w.Work(t)
		w.PressLate(t, chattest.Bob, 1, w.Word(i18n.AskDenyWhy))
		w.PressLate(t, chattest.Bob, 1, w.Word(i18n.AskDeny))
		require.NoError(t, w.OnRequest(t.Context(), q.Request), "which has the request looked at")
		w.Work(t)
		asked := func() int { return strings.Count(strings.Join(w.Relay.Done(), " "), "asked") }
		assert.Equal(t, 1, asked(), "who tapped first gives it")
		close(taken)
		require.NoError(t, <-tapped)
		w.Work(t)
		w.Dials(q)
		require.NoError(t, w.OnRequest(t.Context(), q.Request))
		w.Work(t)
		assert.Equal(t, 2, asked(), "from then on others may")
	})
}

// A reconnect of a request left to the terminal shows no buttons again.
func TestRequestLeftToTerminalStaysThere(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, q := w.Asking(t)
		require.NoError(t, w.SessionNews(t.Context(), r, news.DialogGone{}))
		w.Work(t) // its goroutine lets the hook go
		w.Dials(q)
		require.NoError(t, w.OnRequest(t.Context(), q.Request))
		assert.Equal(t, ask.StageAway, w.RequestState(t, q).Stage)
		assert.Equal(t, []string{"leave", "leave"}, w.Relay.Done())
	})
}

// TestP8_CrashedDenialEndsWithoutHook: else the text is typed, and given as the
// reason as well when the hook redials.
func TestP8_CrashedDenialEndsWithoutHook(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, q := w.Asking(t)
		e, notice := w.HeldBehind(t, r)
		w.HangsUp(q)
		w.Dies(t, "ask-denied-with", func() error { return w.Pressing(t, chattest.Alice, notice, w.Word(i18n.ButtonDenyWith)) })
		w.Restart(t)
		assert.Contains(t, w.Lifecycle.Done(), "withdraw "+e.Key+" of "+r.ID.String())
		assert.Empty(t, w.Relay.Done())
	})
}

func TestP8_UnsentDecisionIsNotReportedSent(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		w.Relay.Decides(func() error { return errors.New("broken") })
		w.TapsOn(t, chattest.Alice, q, i18n.AskAllow)
		assert.True(t, w.RequestState(t, q).Given.IsZero())
		assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, w.AllowedText(i18n.AskNoted))
		w.Relay.Decides(nil)
		w.Later(chattest.Round)
		assert.Equal(t, []string{"allow "}, w.Relay.Done(), "the next look gives it")
	})
}

// A panic in one request leaves that request to the terminal, and the others continue.
func TestP8_CrashingRequestAffectsNoOther(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, q := w.Asking(t)
		_, notice := w.HeldBehind(t, r)
		w.Dies(t, "ask-denied-with", func() error { return w.Pressing(t, chattest.Alice, notice, w.Word(i18n.ButtonDenyWith)) })
		w.Lifecycle.OnWithdraw = func(uuid.UUID, string) error { panic("a mistake of ours") }
		w.Restart(t)
		reported := []string{chattest.Warning + w.Word(i18n.InternalError), chattest.Warning + w.Named(i18n.AskTextUnsure, r.Name)}
		assert.ElementsMatch(t, reported, w.Telegram.Texts())
		assert.True(t, w.RequestState(t, q).HasEnded(), "it does not count for ever")
		assert.Equal(t, ask.Unknown, w.RequestState(t, q).Outcome.What)
		assert.Empty(t, w.Shows(t, 1).Buttons)
		assert.Equal(t, []string{"leave"}, w.Relay.Done())
		other := w.AsksFor(t, r, "Bash", `{"command":"ls"}`)
		w.Later(chattest.Round)
		assert.ElementsMatch(t, reported, w.Telegram.Texts(), "it is told once")
		w.TapsOn(t, chattest.Alice, other, i18n.AskAllow)
		assert.Equal(t, []string{"leave", "allow "}, w.Relay.Done())
		w.Result(t, other, "allow", "ok", false)
		assert.True(t, w.RequestState(t, other).HasEnded())
	})
}

// In a busy group the reader of the transcript waits with an earlier text, so it does not report
// the result of the tool.
func TestConfirmationPrecedesNextRound(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		w.TapsOn(t, chattest.Alice, q, i18n.AskAllow)
		require.Contains(t, w.Telegram.LastEdit(t).Text.Text, w.AllowedText(i18n.AskSent))
		w.Writes(t, q, "allow", "ok", false)
		w.Later(time.Second)
		assert.NotContains(t, w.Telegram.LastEdit(t).Text.Text, w.AllowedText(i18n.AskSent))
		assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, w.Verdict(i18n.AskAllowed, i18n.AskInChat))
		assert.True(t, w.RequestState(t, q).HasEnded())
	})
}
