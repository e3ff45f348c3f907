package bot

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/outbox"
	"ccbot/bot/port/talk"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/lifecycle"
)

const (
	interrupt = `{"type":"user","message":{"content":"[Request interrupted by user]"}}` + "\n"
	apiError  = `{"type":"assistant","isApiErrorMessage":true,"message":{"content":[{"type":"text","text":"529"}]}}` + "\n"
	toolUse   = `{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","id":"t"}]}}` + "\n"
)

func promptLine(text string) string {
	content, _ := json.Marshal(text)
	return fmt.Sprintf(`{"type":"user","message":{"content":%s}}`, content) + "\n"
}

// notice is what the chat is told of an answer whose first line it is.
func (w *world) notice(name, line string) string {
	return w.named(i18n.AnswerNotice, name) + "\n" + line
}

// beside is a session that is not the current one of Alice's chat.
func (w *world) beside(t *testing.T, state session.State, lines ...string) session.Record {
	t.Helper()
	w.currentSession(t, "front", session.Running)
	return w.session(t, "api", state, transcriptOf(t, "t.jsonl", lines...))
}

func TestP5_AnotherSessionsAnswerIsOneNoticeAtTheEndOfItsTurn(t *testing.T) {
	w := newWorld(t)
	lines := []string{says("Let me look."), toolUse, says("# Done\n\nAll **tests** pass."), turnEnd}
	r := w.beside(t, session.Running, lines[:3]...)
	w.readAll(t)
	assert.Empty(t, w.sender.texts(), "the turn goes on")
	assert.Equal(t, r.Cursors, w.cursors(r), "and nothing counts as said")

	grow(t, r.Cursors[0], lines[3])
	w.readAll(t)
	assert.Empty(t, w.sender.answersSent())
	m := w.sender.last(t)
	assert.Equal(t, []string{w.notice("api", "Done")}, w.sender.texts())
	assert.Equal(t, outbox.Message{To: atAlice, Text: m.Text, Buttons: m.Buttons, Silent: true, Session: r.ID, Rank: outbox.Later}, m)
	assert.Equal(t, w.wordsOf(i18n.ButtonOpen), words(m))
	assert.Equal(t, int64(len(strings.Join(lines, ""))), w.cursors(r)[0].Offset)

	w.readAll(t)
	assert.Len(t, w.sender.texts(), 1, "and it comes once")
}

func TestP5_WhatEndsAnotherSessionsTurn(t *testing.T) {
	interrupted := "api was interrupted. Send it what to do instead."
	failed := "api stopped with an error from Claude: 529. Send the message again to go on."
	for _, tt := range []struct {
		name  string
		state session.State
		lines []string
		want  []string // notices
		sent  []string
	}{
		{"its end", session.Running, []string{says("one"), says("two"), turnEnd}, []string{"two"}, nil},
		{"two turns", session.Running, []string{says("one"), turnEnd, says("two"), turnEnd}, []string{"one", "two"}, nil},
		{"an interrupt", session.Running, []string{says("one"), interrupt}, []string{"one"}, []string{interrupted}},
		{"an error of Claude's", session.Running, []string{says("one"), apiError}, []string{"one"}, []string{failed}},
		{"nothing was said", session.Running, []string{toolUse, turnEnd, interrupt}, nil, []string{interrupted}},
		{"the turn goes on", session.Running, []string{says("one"), toolUse, promptLine("more")}, nil, nil},
		{"the end of the session", session.Completed, []string{says("one"), toolUse, says("two")}, []string{"two"}, nil},
		{"a turn and the end of the session", session.Completed, []string{says("one"), turnEnd, says("two")}, []string{"one", "two"}, nil},
		{"a subagent's interrupt is none", session.Running,
			[]string{says("one"), strings.Replace(interrupt, "{", `{"isSidechain":true,`, 1)}, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.beside(t, tt.state, tt.lines...)
			if tt.state.Live() {
				w.readAll(t)
			} else {
				w.readNow(t, r)
				assert.Equal(t, int64(len(strings.Join(tt.lines, ""))), w.cursors(r)[0].Offset)
			}
			var want []string
			for _, line := range tt.want {
				want = append(want, w.notice("api", line))
			}
			assert.Equal(t, want, w.sender.texts())
			assert.Equal(t, tt.sent, w.sender.answersSent())
		})
	}
}

// Earlier versions write no end of a turn, and neither do commands of the terminal.
func TestP5_AnIdleAgentHasEndedItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.talk.polls = true
		w.sessions.look = lifecycle.Look{Phase: lifecycle.PhaseIdle}
		r := w.beside(t, session.Running, says("one"), toolUse, says("two"))
		w.running(t)
		w.expect(t, "post "+w.notice("api", "two"), fmt.Sprintf("advance t.jsonl %d/0/0", len(says("one")+toolUse+says("two"))))
		grow(t, r.Cursors[0], says("three"))
		w.expect(t, "post "+w.notice("api", "three"))
	})
}

func TestP5_AnAgentThatWorksHasNotEndedItsTurn(t *testing.T) {
	for _, phase := range []lifecycle.Phase{lifecycle.PhaseWorking, lifecycle.PhaseWaitingPermission, lifecycle.PhaseUnknown} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.talk.polls = true
			w.sessions.look = lifecycle.Look{Phase: phase}
			r := w.beside(t, session.Running, says("one"))
			stop := w.running(t)
			time.Sleep(100 * time.Second)
			require.NoError(t, stop())
			assert.Empty(t, w.sender.texts())
			assert.Equal(t, r.Cursors, w.cursors(r))
			assert.Equal(t, 4, w.sessions.looks, "and it is not looked at often")
		})
	}
}

func TestP5_WhatBecomesCurrentIsShownInFull(t *testing.T) {
	w := newWorld(t)
	c := transcriptOf(t, "t.jsonl", says("one"), toolUse, says("two"))
	w.currentSession(t, "front", session.Running)
	r := w.session(t, "api", session.Running, c)
	w.running(t)
	require.Eventually(t, func() bool { return contains(w.sender.done(), "typing in 7") }, patience, time.Millisecond, "it has read past the first")
	inList := w.listed(t, r)
	w.expect(t, "post "+inList.on.Text.Text)
	require.NoError(t, w.tapSpot(t, alice, inList))
	w.expect(t, "send one", fmt.Sprintf("advance t.jsonl %d/0/0", len(says("one"))), "send two")
	<-w.events
	grow(t, c, says("three"))
	w.expect(t, "send three")
	<-w.events

	require.NoError(t, w.tapShown(t, alice, w.sender.lastEdit(t), "front"))
	grow(t, c, says("four"), turnEnd)
	w.expect(t, "post "+w.notice("api", "four"))
	assert.Equal(t, []string{inList.on.Text.Text, w.notice("api", "four")}, w.sender.texts(), "one notice in all")
}

// It becomes current in another way than by a tap, and says nothing more.
func TestP5_WhatIsHeldIsShownWithoutAnotherLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.talk.polls = true
		r := w.beside(t, session.Running, says("one"), toolUse)
		w.running(t)
		synctest.Wait()
		require.Contains(t, w.sender.done(), "typing in 7", "it has read past the text")
		require.NoError(t, w.MakeCurrent(t.Context(), atAlice, r.ID))
		synctest.Wait()
		assert.Contains(t, w.happened(), "send one", "at once")
	})
}

// The next line comes before the reader has heard that its session is current.
func TestP5_NothingOvertakesWhatIsHeld(t *testing.T) {
	for _, tt := range []struct {
		name string
		next talk.Kind
	}{{"the second text", talk.Text}, {"the end of the turn", talk.TurnEnd}} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			first, second := says("one"), says("two")
			r := w.beside(t, session.Running, first, second, turnEnd)
			w.talk.gives = func(item talk.Item) {
				if item.Kind == tt.next && item.At.Offset > 0 {
					assert.NoError(t, w.Chats.SetCurrent(atAlice, r.ID))
				}
			}
			w.running(t)
			w.expect(t, "send one", fmt.Sprintf("advance t.jsonl %d/0/0", len(first)),
				"send two", fmt.Sprintf("advance t.jsonl %d/0/0", len(first+second)),
				fmt.Sprintf("advance t.jsonl %d/0/0", len(first+second+turnEnd)))
			assert.Empty(t, w.sender.texts())
		})
	}
}

func TestP5_ACrashRepeatsAtMostTheNotice(t *testing.T) {
	w := newWorld(t)
	w.beside(t, session.Running, says("one"), turnEnd)
	ctx, cancel := context.WithCancel(t.Context())
	w.sessions.advance = func(uuid.UUID, transcript.Cursor) error { // killed before it was on disk
		cancel()
		return errDisk
	}
	require.NoError(t, w.Run(ctx))
	w.sessions.advance = nil
	w.again()
	w.readAll(t)
	w.again()
	w.readAll(t)
	assert.Equal(t, []string{w.notice("api", "one"), w.notice("api", "one")}, w.sender.texts())
}

func TestP5_ANoticeThatIsNotOnDiskIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r := w.beside(t, session.Completed, says("one"), turnEnd, says("two"))
		failing := 2
		w.sender.post = func(outbox.Message) error {
			if failing--; failing >= 0 {
				assert.Equal(t, r.Cursors, w.cursors(r))
				return errDisk
			}
			return nil
		}
		w.readNow(t, r)
		assert.Equal(t, []string{w.notice("api", "one"), w.notice("api", "two")}, w.sender.texts())
	})
}

func TestP5_ATopicGetsItsAnswersInFull(t *testing.T) {
	w := newWorld(t)
	r := w.beside(t, session.Completed, says("one"), turnEnd)
	topic := session.Conversation{ChatID: ours, ThreadID: 5}
	w.records.change(r.ID, func(r *session.Record) { r.Conversation = topic })
	w.readNow(t, r)
	require.Equal(t, []string{"one"}, w.sender.answersSent())
	assert.Equal(t, outbox.Message{To: topic, Text: w.sender.sent[0].Text, Session: r.ID, Rank: outbox.Now}, w.sender.sent[0])
	assert.Empty(t, w.sender.texts())
}

// What a /clear leaves behind gets its notice before the next transcript comes.
func TestP5_HeldBeforeAClear(t *testing.T) {
	w := newWorld(t)
	w.currentSession(t, "front", session.Running)
	one, two := transcriptOf(t, "one.jsonl", says("one")), transcriptOf(t, "two.jsonl", says("two"), turnEnd)
	r := w.session(t, "api", session.Completed, one, two)
	w.readNow(t, r)
	assert.Equal(t, []string{w.notice("api", "one"), w.notice("api", "two")}, w.sender.texts())
}

func TestP5_HeldBeforeAReplacedTranscript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.talk.polls = true
		r := w.beside(t, session.Running, says("one"), says("two"))
		w.running(t)
		synctest.Wait()
		require.NoError(t, os.WriteFile(r.Cursors[0].Path+".new", []byte(says("another")), 0o600))
		require.NoError(t, os.Rename(r.Cursors[0].Path+".new", r.Cursors[0].Path))
		time.Sleep(time.Second)
		assert.Equal(t, []string{w.notice("api", "two"), w.named(i18n.TranscriptReplaced, "api")}, w.sender.texts())
	})
}

// A chat that takes nothing is no reason to pass anything: after the block all of it comes, in
// order.
func TestP5_ABlockedChatGetsWhatItMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.talk.polls = true
		c := transcriptOf(t, "t.jsonl", says("one"), says("two"), says("three"))
		r := w.currentSession(t, "api", session.Running, c)
		park := func(parked bool) {
			w.sender.mu.Lock()
			defer w.sender.mu.Unlock()
			w.sender.parked = map[int64]bool{alice: parked}
		}
		blocked := make(chan struct{}, 10)
		blocking := true
		w.sender.send = func(_ context.Context, m outbox.Message) error {
			if blocking && m.Text.Text == "two" {
				park(true)
				blocked <- struct{}{}
				return fmt.Errorf("send: %w", &outbox.Refused{Err: outbox.ErrBlocked})
			}
			return nil
		}
		w.running(t)
		receive(t, blocked)
		synctest.Wait()
		w.newTranscript(t, r)
		synctest.Wait()
		assert.Equal(t, []string{"one"}, w.sender.answersSent())
		assert.Equal(t, int64(len(says("one"))), w.cursors(r)[0].Offset, "and nothing is passed")
		blocking = false
		w.mustHear(t, "/list") // which ends the block
		require.Eventually(t, func() bool { return len(w.sender.answersSent()) == 3 }, patience, time.Millisecond)
		assert.Equal(t, []string{"one", "two", "three"}, w.sender.answersSent())
		assert.Empty(t, blocked)
	})
}

func TestP5_ABlockedChatGetsNoNotices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.talk.polls = true
		r := w.beside(t, session.Running, says("one"), toolUse)
		w.running(t)
		synctest.Wait()
		require.Contains(t, w.sender.done(), "typing in 7", "it has read past the text")
		w.sender.mu.Lock()
		w.sender.parked = map[int64]bool{alice: true}
		w.sender.mu.Unlock()
		grow(t, r.Cursors[0], turnEnd)
		time.Sleep(time.Second)
		assert.Empty(t, w.sender.texts())
		assert.Equal(t, r.Cursors, w.cursors(r))
	})
}
