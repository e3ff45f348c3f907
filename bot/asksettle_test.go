package bot

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/ask"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/hooks"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// TestP8_NewsOfOtherSessionsHoldsNothingUp: there is news every second, and a hook
// that did not come back is found all the same.
func TestP8_NewsOfOtherSessionsHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Now = time.Now
		_, q := w.asking(t)
		w.hangsUp(q)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- w.asks.follow(ctx) }()
		other := w.session(t, "web", session.Running)
		for range 40 {
			w.asks.look(other.ID, false)
			time.Sleep(time.Second)
		}
		synctest.Wait()
		assert.Equal(t, ask.StateAway, w.card(t, q).State)
		cancel()
		require.NoError(t, <-done)
	})
}

// TestP8_HalfOfAnOutcomeIsNotWaitedForForEver, although there is news all the time.
func TestP8_HalfOfAnOutcomeIsNotWaitedForForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Now = time.Now
		_, q := w.asking(t)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- w.asks.follow(ctx) }()
		w.refused(t, q, false)
		for range 20 {
			w.asks.look(uuid.New(), false)
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		assert.Equal(t, ask.Denied, w.card(t, q).Outcome.What)
		cancel()
		require.NoError(t, <-done)
	})
}

// refused is what an Esc and a "No" write: the refusal of the tool, then the
// interrupt.
func (w *world) refused(t *testing.T, q asked, interrupt bool) {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(q.ID)
	require.NoError(t, err)
	line := func(content any, more string) string {
		text, err := json.Marshal(content)
		require.NoError(t, err)
		return `{"type":"user","timestamp":"` + w.Now().Format(time.RFC3339Nano) + `"` + more + `,"message":{"role":"user","content":[` + string(text) + "]}}\n"
	}
	text := line(map[string]any{"type": "tool_result", "tool_use_id": "toolu_" + uuid.UUID(raw).String(), "content": "no", "is_error": true},
		`,"toolDenialKind":"user-rejected"`)
	if interrupt {
		text += line(map[string]any{"type": "text", "text": "[Request interrupted by user for tool use]"}, "")
	}
	grow(t, q.cursor, text)
	w.asks.look(q.Session, false)
}

// TestP8_WhatAHookHasTakenIsKnownAfterARestart: then the message says sent.
func TestP8_WhatAHookHasTakenIsKnownAfterARestart(t *testing.T) {
	w := newWorld(t)
	_, q := w.asking(t)
	w.tapsOn(t, alice, q, "ok")
	edits := len(w.sender.edited)
	assert.Equal(t, 1, edits, "one edit, and not two")
	w.restart(t)
	assert.False(t, w.card(t, q).Given.IsZero())
	assert.Contains(t, w.sender.lastEdit(t).Text.Text, w.saying(i18n.AskSent, i18n.AskDecidedAllow))
}

func TestOldCardsAreForgottenWhileItRuns(t *testing.T) {
	w := newWorld(t)
	_, q := w.asking(t)
	w.restart(t)
	w.result(t, q, "", "ok", false)
	w.later(askKeep + time.Hour)
	w.asks.prune()
	assert.Empty(t, w.Asks.List())
}

func TestTheCauseIsSaid(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(w *world, r session.Record, q asked)
		away ask.Cause
		want i18n.Key
	}{
		{"the dialog is gone", func(w *world, r session.Record, _ asked) {
			_ = w.SessionNews(context.Background(), lifecycle.Note{Kind: lifecycle.NoteDialogGone, Session: r})
		}, ask.DialogGone, i18n.AskAwayGone},
		{"the hook is gone", func(w *world, _ session.Record, q asked) {
			w.hangsUp(q)
			w.Left(context.Background(), q.Request)
		}, ask.HookLeft, i18n.AskAway},
		{"the hook waited for a day", func(w *world, _ session.Record, q asked) {
			w.hangsUp(q)
			w.later(24 * time.Hour)
			w.Left(context.Background(), q.Request)
		}, ask.WaitedOut, i18n.AskAway},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			r, q := w.asking(t)
			tt.do(w, r, q)
			w.work(t)
			assert.Equal(t, tt.away, w.card(t, q).Away)
			assert.Contains(t, w.sender.lastEdit(t).Text.Text, w.word(tt.want))
			w.later(26 * time.Hour)
			w.asks.lookAtAll(t.Context())
			assert.Equal(t, tt.away == ask.WaitedOut, w.card(t, q).Outcome.What == ask.Expired)
		})
	}
}

func TestWhoInterrupted(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, w *world, q asked)
		want i18n.Key
	}{
		{"at the desk", func(*testing.T, *world, asked) {}, i18n.AskInterrupted},
		{"from the chat", func(t *testing.T, w *world, _ asked) { w.mustHear(t, "/stop") }, i18n.AskInterruptedChat},
		{"in vain from the chat", func(t *testing.T, w *world, _ asked) {
			w.sessions.interrupt = func(uuid.UUID) error { return lifecycle.ErrIdle }
			w.mustHear(t, "/stop")
		}, i18n.AskInterrupted},
		{"after it was allowed", func(t *testing.T, w *world, q asked) { w.tapsOn(t, alice, q, "ok") }, i18n.AskInterruptedAfter},
		{"and no hook took that", func(t *testing.T, w *world, q asked) {
			w.hangsUp(q)
			w.tapsOn(t, alice, q, "ok")
		}, i18n.AskInterrupted},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			_, q := w.asking(t)
			tt.do(t, w, q)
			w.refused(t, q, true)
			w.work(t)
			assert.Contains(t, w.sender.lastEdit(t).Text.Text, w.word(tt.want))
		})
	}
}

func TestDenyWithThisSaysWhyItDoesNot(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(w *world, r session.Record, q asked)
		want i18n.Key
	}{
		{"the dialog is gone", func(w *world, r session.Record, _ asked) {
			_ = w.SessionNews(context.Background(), lifecycle.Note{Kind: lifecycle.NoteDialogGone, Session: r})
		}, i18n.AskAwayGone},
		{"it is over", func(w *world, r session.Record, _ asked) { w.asks.look(r.ID, true) }, i18n.AskEnded},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			r, q := w.asking(t)
			_, buttons := w.heldBehind(t, r)
			tt.do(w, r, q)
			w.work(t)
			require.NoError(t, w.tap(t, alice, buttons[0]))
			assert.Contains(t, strings.Join(w.sender.done(), "\n"), "answer query: "+w.word(tt.want)+"\n"+w.word(i18n.AskTooLate))
			assert.Equal(t, 1, w.sender.spent)
		})
	}
}

// TestASubagentsRequestHoldsUpNoPrompt: the session takes prompts meanwhile.
func TestASubagentsRequestHoldsUpNoPrompt(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Running)
	q := w.request(t, r, "Bash", bash)
	q.SubagentID, q.Subagent = "ac2a379c5157a4c20", "general-purpose"
	w.dials(q)
	require.NoError(t, w.Asked(t.Context(), q.Request))
	w.work(t)
	key := w.mustHear(t, "a prompt")
	assert.Empty(t, w.sender.posted)
	e, err := w.entries.Load(key)
	require.NoError(t, err)
	assert.Empty(t, e.Note)
	require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteHeldDialog, Session: r, Prompt: lifecycle.Prompt{Key: key}}))
	assert.Equal(t, w.named(i18n.HeldDialog, "api"), w.sender.last(t).Text.Text)
}

// A prompt that was offered behind one request may come to wait behind another.
func TestAPromptIsOfferedForEachRequest(t *testing.T) {
	w := newWorld(t)
	r, one := w.asking(t)
	key := w.mustHear(t, "use make")
	w.result(t, one, "", "ok", false)
	two := w.asksFor(t, r, "Bash", `{"command":"ls"}`)
	require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteHeldDialog, Session: r, Prompt: lifecycle.Prompt{Key: key}}))
	w.work(t)
	assert.Contains(t, data(w.lastSent(t)), "dw:"+two.ID+":"+key)
	p, err := Prompts{Inbox: w.entries.Store}.Prompt(key)
	require.NoError(t, err)
	p.State = lifecycle.PromptState(inbox.Held)
	require.NoError(t, Prompts{Inbox: w.entries.Store}.SavePrompt(p))
	e, err := w.entries.Load(key)
	require.NoError(t, err)
	assert.Equal(t, "offered:"+one.ID, e.Note, "lifecycle keeps it")
}

func TestEverythingIsShownOnceAtATime(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Running)
	input, err := json.Marshal(map[string]string{"command": strings.Repeat("echo hello\n", 500)})
	require.NoError(t, err)
	q := w.asksFor(t, r, "Bash", string(input))
	before := len(w.sender.sent)
	w.sender.send = func(context.Context, outbox.Message) error {
		w.sender.send = nil
		return w.tap(t, alice, "p:"+q.ID+":all") // while the first part is under way
	}
	w.tapsOn(t, alice, q, "all")
	parts := len(w.sender.sent) - before
	assert.Equal(t, len(w.asks.viewer().All(w.card(t, q)))+1, parts, "and the message again")
	assert.NotContains(t, data(w.lastSent(t)), "p:"+q.ID+":all")
	w.tapsOn(t, alice, q, "all")
	assert.Len(t, w.sender.sent, before+parts)
}

// TestP8_ATapThatIsNotTakenLeavesTheOther to give its decision to the hook.
func TestP8_ATapThatIsNotTakenLeavesTheOther(t *testing.T) {
	w := newWorld(t)
	_, q := w.asking(t)
	w.asks.busy[q.ID] = true
	w.tapsOn(t, bob, q, "why")
	w.tapsOn(t, bob, q, "c")
	assert.True(t, w.asks.isBusy(q.ID))
	delete(w.asks.busy, q.ID)
	w.tapsOn(t, alice, q, "ok")
	assert.False(t, w.asks.isBusy(q.ID))
}

// A redial of a request that was left to the desk shows no buttons again.
func TestWhatWasLeftToTheDeskStaysThere(t *testing.T) {
	w := newWorld(t)
	r, q := w.asking(t)
	require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteDialogGone, Session: r}))
	w.dials(q)
	require.NoError(t, w.Asked(t.Context(), q.Request))
	assert.Equal(t, ask.StateAway, w.card(t, q).State)
	assert.Equal(t, []string{"leave", "leave"}, w.relay.done())
}

// TestP8_ACrashInDenyWithThisIsFinishedWithoutTheHook: else the text is typed, and
// given as the reason as well when the hook redials.
func TestP8_ACrashInDenyWithThisIsFinishedWithoutTheHook(t *testing.T) {
	w := newWorld(t)
	r, q := w.asking(t)
	e, buttons := w.heldBehind(t, r)
	w.hangsUp(q)
	w.Failpoint = func(name string) {
		if name == "ask-denied-with" {
			panic("killed")
		}
	}
	w.dies(t, func() error { return w.tap(t, alice, buttons[0]) })
	w.Failpoint = nil
	w.restart(t)
	assert.Contains(t, w.sessions.done(), "withdraw "+e.Key+" of "+r.ID.String())
	assert.Empty(t, w.relay.done())
}

// brokenRelay fails otherwise than a hook that does not wait.
type brokenRelay struct{ *fakeRelay }

func (brokenRelay) Decide(string, hooks.Decision) error { return errors.New("broken") }

func TestP8_ADecisionThatIsNotGivenIsNotSaidToBeSent(t *testing.T) {
	w := newWorld(t)
	_, q := w.asking(t)
	w.Relay = brokenRelay{w.relay}
	w.toldOfError(t, w.tap(t, alice, fmt.Sprintf("p:%s:ok", q.ID)))
	assert.True(t, w.card(t, q).Given.IsZero())
	assert.Contains(t, w.sender.lastEdit(t).Text.Text, w.saying(i18n.AskNoted, i18n.AskDecidedAllow))
	assert.False(t, w.asks.isBusy(q.ID))
}
