package bot

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/ask"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// TestP8_NewsOfOtherSessionsHoldsNothingUp: there is news every second, and a hook that did not
// come back is found all the same.
func TestP8_NewsOfOtherSessionsHoldsNothingUp(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		_, q := w.asking(t)
		other := w.asksFor(t, w.session(t, "web", session.Running), "Bash", bash)
		w.hangsUp(q)
		for range 40 {
			require.NoError(t, w.Asked(t.Context(), other.Request))
			w.later(time.Second)
		}
		assert.Equal(t, ask.StateAway, w.card(t, q).State)
	})
}

// TestP8_HalfOfAnOutcomeIsNotWaitedForForEver, although there is news all the time.
func TestP8_HalfOfAnOutcomeIsNotWaitedForForEver(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		_, q := w.asking(t)
		other := w.asksFor(t, w.session(t, "web", session.Running), "Bash", bash)
		w.refused(t, q, false)
		w.later(round)
		require.Equal(t, ask.StateOpen, w.card(t, q).State, "half of it is known")
		for range 20 {
			require.NoError(t, w.Asked(t.Context(), other.Request))
			w.later(100 * time.Millisecond)
		}
		assert.Equal(t, ask.Denied, w.card(t, q).Outcome.What)
	})
}

// refused is what an Esc and a "No" write: the refusal of the tool, then the interrupt.
func (w *world) refused(t *testing.T, q asked, interrupt bool) {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(q.ID)
	require.NoError(t, err)
	w.userLine(t, q, map[string]any{"type": "tool_result", "tool_use_id": "toolu_" + uuid.UUID(raw).String(), "content": "no", "is_error": true},
		`,"toolDenialKind":"user-rejected"`)
	if interrupt {
		w.interrupted(t, q)
	}
}

// interrupted is the second line of refused.
func (w *world) interrupted(t *testing.T, q asked) {
	t.Helper()
	w.userLine(t, q, map[string]any{"type": "text", "text": "[Request interrupted by user for tool use]"}, "")
}

// userLine writes a line of a request's transcript that Claude Code ascribes to the user.
func (w *world) userLine(t *testing.T, q asked, content any, more string) {
	t.Helper()
	text, err := json.Marshal(content)
	require.NoError(t, err)
	grow(t, q.cursor, `{"type":"user","timestamp":"`+w.Now().Format(time.RFC3339Nano)+`"`+more+
		`,"message":{"role":"user","content":[`+string(text)+"]}}\n")
}

// TestP8_WhatAHookHasTakenIsKnownAfterARestart: then the message says sent.
func TestP8_WhatAHookHasTakenIsKnownAfterARestart(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		_, q := w.asking(t)
		w.tapsOn(t, alice, q, i18n.AskAllow)
		edits := len(w.sender.edited)
		assert.Equal(t, 1, edits, "one edit, and not two")
		w.restart(t)
		assert.False(t, w.card(t, q).Given.IsZero())
		assert.Contains(t, w.sender.lastEdit(t).Text.Text, w.allowed(i18n.AskSent))
	})
}

func TestOldCardsAreForgottenWhileItRuns(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		_, q := w.asking(t)
		w.restart(t)
		w.result(t, q, "", "ok", false)
		w.later(7*24*time.Hour - time.Hour)
		assert.Len(t, w.Asks.List(), 1)
		w.later(25*time.Hour + round) // it is looked at once a day
		assert.Empty(t, w.Asks.List())
	})
}

func TestWhatBecomesOfARequestThatIsAway(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(w *world, r session.Record, q asked)
		desk bool
	}{
		{"the dialog is gone", func(w *world, r session.Record, _ asked) {
			_ = w.SessionNews(context.Background(), lifecycle.Note{Kind: lifecycle.NoteDialogGone, Session: r})
		}, true},
		{"the hook is gone", func(w *world, _ session.Record, q asked) {
			w.hangsUp(q)
			w.Left(context.Background(), q.Request)
		}, false},
	} {
		runsAs(t, tt.name, func(t *testing.T, w *world) {
			r, q := w.asking(t)
			tt.do(w, r, q)
			w.work(t)
			assert.Equal(t, tt.desk, w.card(t, q).Desk)
			assert.Contains(t, w.sender.lastEdit(t).Text.Text, w.word(i18n.AskAway))
			w.later(26 * time.Hour)
			assert.Equal(t, ask.Unknown, w.card(t, q).Outcome.What)
		})
	}
}

func TestDenyWithThisThatComesTooLateDoesNothing(t *testing.T) {
	for name, kind := range map[string]lifecycle.NoteKind{"the dialog is gone": lifecycle.NoteDialogGone,
		"it is over": lifecycle.NoteEnded} {
		runsAs(t, name, func(t *testing.T, w *world) {
			r, _ := w.asking(t)
			_, notice := w.heldBehind(t, r)
			require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: kind, Session: r}))
			w.work(t)
			w.pressLate(t, alice, notice, w.word(i18n.ButtonDenyWith))
			assert.Contains(t, w.sender.done(), "answer query: "+w.word(i18n.StaleButton))
			assert.Empty(t, w.shows(t, notice).Buttons)
		})
	}
}

// TestASubagentsRequestHoldsUpNoPrompt: the session takes prompts meanwhile.
func TestASubagentsRequestHoldsUpNoPrompt(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.currentSession(t, "api", session.Running)
		q := w.request(t, r, "Bash", bash)
		q.SubagentID, q.Subagent = "ac2a379c5157a4c20", "general-purpose"
		w.dials(q)
		require.NoError(t, w.Asked(t.Context(), q.Request))
		w.work(t)
		key := w.mustHear(t, "a prompt")
		assert.Empty(t, w.sender.posted)
		require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteHeldDialog, Session: r, Prompt: lifecycle.Prompt{Key: key}}))
		assert.Equal(t, w.named(i18n.HeldDialog, "api"), w.sender.last(t).Text.Text)
	})
}

// A prompt that was offered behind one request may come to wait behind another.
func TestAPromptIsOfferedForEachRequest(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r, one := w.asking(t)
		key := w.mustHear(t, "use make")
		w.result(t, one, "", "ok", false)
		two := w.asksFor(t, r, "Bash", `{"command":"ls"}`)
		require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteHeldDialog, Session: r, Prompt: lifecycle.Prompt{Key: key}}))
		w.work(t)
		assert.Equal(t, key, w.offer(t, two).Key)
		e, err := w.entries.Load(key)
		require.NoError(t, err)
		assert.Equal(t, e.MessageID, w.lastSent(t).ReplyTo)
		assert.True(t, w.has(w.lastSent(t), i18n.ButtonDenyWith))
		assert.True(t, w.offer(t, one).Closed)
		w.press(t, alice, w.sender.lastID(), w.word(i18n.ButtonDenyWith))
		assert.Equal(t, ask.StateSent, w.card(t, two).State, "the second one is denied with it")
	})
}

func TestEverythingIsShownOnceAtATime(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.currentSession(t, "api", session.Running)
		input, err := json.Marshal(map[string]string{"command": strings.Repeat("echo hello\n", 500)})
		require.NoError(t, err)
		q := w.asksFor(t, r, "Bash", string(input))
		before := len(w.sender.sent)
		w.sender.send = func(context.Context, outbox.Message) error {
			w.sender.send = nil
			return w.pressing(t, alice, 1, w.word(i18n.AskShowAll)) // while the first part is under way
		}
		w.tapsOn(t, alice, q, i18n.AskShowAll)
		parts := len(w.sender.sent) - before
		all := ask.Viewer{Words: w.Chat.Words, Home: w.Home}.All(w.card(t, q))
		assert.Equal(t, len(all)+1, parts, "and the message again")
		assert.False(t, w.has(w.lastSent(t), i18n.AskShowAll))
		w.pressLate(t, alice, 1, w.word(i18n.AskShowAll))
		assert.Len(t, w.sender.sent, before+parts)
	})
}

// TestP8_ATapThatIsNotTakenLeavesTheOther to give its decision to the hook.
func TestP8_ATapThatIsNotTakenLeavesTheOther(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		_, q := w.asking(t)
		taken := make(chan struct{})
		w.relay.decides(func() error {
			w.relay.add("asked")
			<-taken
			return nil
		})
		tapped := make(chan error)
		go func() { tapped <- w.pressing(t, alice, 1, w.word(i18n.AskAllow)) }()
		w.work(t)
		w.pressLate(t, bob, 1, w.word(i18n.AskDenyWhy))
		w.pressLate(t, bob, 1, w.word(i18n.AskDeny))
		require.NoError(t, w.Asked(t.Context(), q.Request), "which has the request looked at")
		w.work(t)
		asked := func() int { return strings.Count(strings.Join(w.relay.done(), " "), "asked") }
		assert.Equal(t, 1, asked(), "who tapped first gives it")
		close(taken)
		require.NoError(t, <-tapped)
		w.work(t)
		w.dials(q)
		require.NoError(t, w.Asked(t.Context(), q.Request))
		w.work(t)
		assert.Equal(t, 2, asked(), "from then on others may")
	})
}

// A redial of a request that was left to the desk shows no buttons again.
func TestWhatWasLeftToTheDeskStaysThere(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r, q := w.asking(t)
		require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteDialogGone, Session: r}))
		w.dials(q)
		require.NoError(t, w.Asked(t.Context(), q.Request))
		assert.Equal(t, ask.StateAway, w.card(t, q).State)
		assert.Equal(t, []string{"leave", "leave"}, w.relay.done())
	})
}

// TestP8_ACrashInDenyWithThisIsFinishedWithoutTheHook: else the text is typed, and given as the
// reason as well when the hook redials.
func TestP8_ACrashInDenyWithThisIsFinishedWithoutTheHook(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r, q := w.asking(t)
		e, notice := w.heldBehind(t, r)
		w.hangsUp(q)
		w.dies(t, "ask-denied-with", func() error { return w.pressing(t, alice, notice, w.word(i18n.ButtonDenyWith)) })
		w.restart(t)
		assert.Contains(t, w.sessions.done(), "withdraw "+e.Key+" of "+r.ID.String())
		assert.Empty(t, w.relay.done())
	})
}

func TestP8_ADecisionThatIsNotGivenIsNotSaidToBeSent(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		_, q := w.asking(t)
		w.relay.decides(func() error { return errors.New("broken") })
		w.tapsOn(t, alice, q, i18n.AskAllow)
		assert.True(t, w.card(t, q).Given.IsZero())
		assert.Contains(t, w.sender.lastEdit(t).Text.Text, w.allowed(i18n.AskNoted))
		w.relay.decides(nil)
		w.later(round)
		assert.Equal(t, []string{"allow "}, w.relay.done(), "the next look gives it")
	})
}

// A mistake of ours about one request leaves that request to the terminal, and the others go on.
func TestP8_ARequestThatCrashesEndsNothingElse(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r, q := w.asking(t)
		_, notice := w.heldBehind(t, r)
		w.dies(t, "ask-denied-with", func() error { return w.pressing(t, alice, notice, w.word(i18n.ButtonDenyWith)) })
		w.sessions.withdraw = func(uuid.UUID, string) error { panic("a mistake of ours") }
		w.restart(t)
		told := []string{warning + w.word(i18n.InternalError), warning + w.named(i18n.AskTextUnsure, r.Name)}
		assert.ElementsMatch(t, told, w.sender.texts())
		assert.True(t, w.card(t, q).IsOver(), "it does not count for ever")
		assert.Equal(t, ask.Unknown, w.card(t, q).Outcome.What)
		assert.Empty(t, w.shows(t, 1).Buttons)
		assert.Equal(t, []string{"leave"}, w.relay.done())
		other := w.asksFor(t, r, "Bash", `{"command":"ls"}`)
		w.later(round)
		assert.ElementsMatch(t, told, w.sender.texts(), "it is told once")
		w.tapsOn(t, alice, other, i18n.AskAllow)
		assert.Equal(t, []string{"leave", "allow "}, w.relay.done())
		w.result(t, other, "allow", "ok", false)
		assert.True(t, w.card(t, other).IsOver())
	})
}
