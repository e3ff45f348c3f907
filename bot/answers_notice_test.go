package bot_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/internal/waittest"
	"ccbot/lifecycle/view"
	"ccbot/port/talk"
)

func TestP5_OtherSessionsTurnSendsOneNotice(t *testing.T) {
	w := chattest.NewWorld(t)
	lines := []string{chattest.Says("Let me look."), chattest.ToolUse, chattest.Says("# Done\n\nAll **tests** pass."), chattest.TurnEnd}
	r := w.Beside(t, session.Running, lines[:3]...)
	w.ReadAll(t)
	assert.Empty(t, w.Telegram.Texts(), "the turn goes on")
	assert.Equal(t, r.Cursors, w.Cursors(r), "and nothing counts as said")

	chattest.Grow(t, r.Cursors[0], lines[3])
	w.ReadAll(t)
	assert.Empty(t, w.Telegram.AnswersSent())
	m := w.Telegram.Last(t)
	assert.Equal(t, []string{w.Notice("api", "Done")}, w.Telegram.Texts())
	assert.Equal(t, outbox.Message{To: chattest.AtAlice, Text: m.Text, Buttons: m.Buttons, Session: r.ID, Rank: outbox.Later, Name: m.Name}, m)
	assert.Equal(t, w.WordsOf(i18n.ButtonOpen), chattest.Words(m))
	assert.Equal(t, int64(len(strings.Join(lines, ""))), w.Cursors(r)[0].Offset)

	w.ReadAll(t)
	assert.Len(t, w.Telegram.Texts(), 1, "and it comes once")
}

func TestP5_EndOfOtherSessionsTurn(t *testing.T) {
	done := func(line string) string { return "api is done: " + line }
	interrupted := "api is interrupted. Tell it what to do instead."
	failed := "api stopped with an error from Claude: “529”. Send your message again to continue."
	for _, tt := range []struct {
		name  string
		state session.State
		lines []string
		want  []string // lines
	}{
		{"its end", session.Running, []string{chattest.Says("one"), chattest.Says("two"), chattest.TurnEnd}, []string{done("two")}},
		{"two turns", session.Running, []string{chattest.Says("one"), chattest.TurnEnd, chattest.Says("two"), chattest.TurnEnd}, []string{done("one"), done("two")}},
		{"an interrupt", session.Running, []string{chattest.Says("one"), chattest.Interrupt}, []string{interrupted}},
		{"an error of Claude's", session.Running, []string{chattest.Says("one"), chattest.APIError}, []string{failed}},
		{"nothing was said", session.Running, []string{chattest.ToolUse, chattest.TurnEnd}, []string{"api is done."}},
		{"it begins anew", session.Running, []string{chattest.PromptLine("<command-name>/clear</command-name>"), chattest.TurnEnd}, nil},
		{"nothing was said, or done", session.Running, []string{chattest.TurnEnd}, nil},
		{"the turn goes on", session.Running, []string{chattest.Says("one"), chattest.ToolUse, chattest.PromptLine("more")}, nil},
		{"the end of the session", session.Completed, []string{chattest.Says("one"), chattest.ToolUse, chattest.Says("two")}, []string{done("two")}},
		{"a turn and the end of the session", session.Completed, []string{chattest.Says("one"), chattest.TurnEnd, chattest.Says("two")}, []string{done("one"), done("two")}},
		{"a subagent's interrupt is none", session.Running,
			[]string{chattest.Says("one"), strings.Replace(chattest.Interrupt, "{", `{"isSidechain":true,`, 1)}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.Beside(t, tt.state, tt.lines...)
			if tt.state.Live() {
				w.ReadAll(t)
			} else {
				w.ReadNow(t, r)
				assert.Equal(t, int64(len(strings.Join(tt.lines, ""))), w.Cursors(r)[0].Offset)
			}
			assert.Equal(t, tt.want, w.Telegram.Texts())
			assert.Empty(t, w.Telegram.AnswersSent())
			assert.Empty(t, sounded(w))
		})
	}
}

// Earlier versions write no end of a turn, and neither do commands of the terminal.
func TestP5_IdleAgentHasEndedTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		w.Talk.Reported = true
		w.Lifecycle.OnLook = view.Status{Phase: talk.PhaseIdle}
		r := w.Beside(t, session.Running, chattest.Says("one"), chattest.ToolUse, chattest.Says("two"))
		w.Running(t)
		w.Expect(t, "post "+w.Notice("api", "two"), fmt.Sprintf("advance t.jsonl %d/0/0", len(chattest.Says("one")+chattest.ToolUse+chattest.Says("two"))))
		chattest.Grow(t, r.Cursors[0], chattest.Says("three"))
		w.Expect(t, "post "+w.Notice("api", "three"))
	})
}

// Another session may have the old name.
func TestP5_WaitingReaderUsesNewName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		w.Talk.Reported = true
		r := w.Beside(t, session.Running, chattest.Says("one"), chattest.TurnEnd)
		w.Running(t)
		w.Expect(t, "post "+w.Notice("api", "one"))
		<-w.Order
		synctest.Wait()
		w.Records.Change(r.ID, func(r *session.Record) { r.Name = "web" })
		chattest.Grow(t, r.Cursors[0], chattest.APIError)
		w.Expect(t, "post web stopped with an error from Claude: “529”. Send your message again to continue.")
	})
}

func TestP5_WorkingAgentHasNotEndedTurn(t *testing.T) {
	for _, phase := range []talk.Phase{talk.PhaseWorking, talk.PhaseWaitingPermission, talk.PhaseUnknown} {
		synctest.Test(t, func(t *testing.T) {
			w := chattest.NewWorld(t)
			w.Talk.Reported = true
			w.Lifecycle.OnLook = view.Status{Phase: phase}
			r := w.Beside(t, session.Running, chattest.Says("one"))
			stop := w.Running(t)
			time.Sleep(100 * time.Second)
			require.NoError(t, stop())
			assert.Empty(t, w.Telegram.Texts())
			assert.Equal(t, r.Cursors, w.Cursors(r))
			assert.Equal(t, 4, w.Lifecycle.Looked, "and it is not looked at often")
		})
	}
}

func TestP5_NewCurrentSessionIsShownFully(t *testing.T) {
	w := chattest.NewWorld(t)
	c := chattest.TranscriptOf(t, "t.jsonl", chattest.Says("one"), chattest.ToolUse, chattest.Says("two"))
	w.NewCurrentSession(t, "front", session.Running)
	r := w.Session(t, "api", session.Running, c)
	w.Running(t)
	waittest.Until(t, func() bool { return chattest.Contains(w.Telegram.Done(), "typing in 7") }, "it has read past the first")
	inList := w.Listed(t, r)
	w.Expect(t, "post "+inList.On.Text.Text)
	require.NoError(t, w.TapSpot(t, chattest.Alice, inList))
	w.Expect(t, "send one", fmt.Sprintf("advance t.jsonl %d/0/0", len(chattest.Says("one"))), "send two")
	<-w.Order
	chattest.Grow(t, c, chattest.Says("three"))
	w.Expect(t, "send three")
	<-w.Order

	require.NoError(t, w.TapShown(t, chattest.Alice, w.Telegram.LastEdit(t), "front"))
	chattest.Grow(t, c, chattest.Says("four"), chattest.TurnEnd)
	w.Expect(t, "post "+w.Notice("api", "four"))
	assert.Equal(t, []string{inList.On.Text.Text, w.Notice("api", "four")}, w.Telegram.Texts(), "one notice in all")
}

// It becomes current without a tap, and writes nothing more.
func TestP5_HeldAnswerNeedsNoFurtherLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		w.Talk.Reported = true
		r := w.Beside(t, session.Running, chattest.Says("one"), chattest.ToolUse)
		w.Running(t)
		synctest.Wait()
		require.Contains(t, w.Telegram.Done(), "typing in 7", "it has read past the text")
		require.NoError(t, w.MakeCurrent(t.Context(), chattest.AtAlice, 0, r.ID))
		synctest.Wait()
		assert.Contains(t, w.Happened(), "send one", "at once")
	})
}

// The next line comes before the reader knows that its session is current.
func TestP5_HeldAnswersKeepOrder(t *testing.T) {
	for _, tt := range []struct {
		name string
		next talk.Kind
	}{{"the second text", talk.Text}, {"the end of the turn", talk.TurnEnd}} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			first, second := chattest.Says("one"), chattest.Says("two")
			r := w.Beside(t, session.Running, first, second, chattest.TurnEnd)
			w.Talk.Gives = func(item talk.Item) {
				if item.Kind == tt.next && item.At.Offset > 0 {
					assert.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, r.ID))
				}
			}
			w.Running(t)
			w.Expect(t, "send one", fmt.Sprintf("advance t.jsonl %d/0/0", len(first)),
				"send two", fmt.Sprintf("advance t.jsonl %d/0/0", len(first+second)),
				fmt.Sprintf("advance t.jsonl %d/0/0", len(first+second+chattest.TurnEnd)))
			assert.Empty(t, w.Telegram.Texts())
		})
	}
}

func TestP5_CrashRepeatsAtMostNotice(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Beside(t, session.Running, chattest.Says("one"), chattest.TurnEnd)
	ctx, cancel := context.WithCancel(t.Context())
	w.Lifecycle.OnAdvance = func(uuid.UUID, talk.Cursor) error { // killed before it was on disk
		cancel()
		return chattest.ErrDisk
	}
	require.NoError(t, w.Run(ctx))
	w.Lifecycle.OnAdvance = nil
	w.Again()
	w.ReadAll(t)
	w.Again()
	w.ReadAll(t)
	assert.Equal(t, []string{w.Notice("api", "one"), w.Notice("api", "one")}, w.Telegram.Texts())
}

func TestP5_UnsavedNoticeIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		r := w.Beside(t, session.Completed, chattest.Says("one"), chattest.TurnEnd, chattest.Says("two"))
		failing := 2
		w.Telegram.OnPost = func(outbox.Message) error {
			if failing--; failing >= 0 {
				assert.Equal(t, r.Cursors, w.Cursors(r))
				return chattest.ErrDisk
			}
			return nil
		}
		w.ReadNow(t, r)
		assert.Equal(t, []string{w.Notice("api", "one"), w.Notice("api", "two")}, w.Telegram.Texts())
	})
}

func TestP5_TopicGetsFullAnswers(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Beside(t, session.Completed, chattest.Says("one"), chattest.TurnEnd)
	topic := session.Conversation{ChatID: chattest.Ours, ThreadID: 5}
	w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = topic })
	w.ReadNow(t, r)
	require.Equal(t, []string{"one"}, w.Telegram.AnswersSent())
	assert.Equal(t, outbox.Message{To: topic, Text: w.Telegram.Sent[0].Text, Session: r.ID, Rank: outbox.Talk, Sounds: true, Cursor: w.Telegram.Sent[0].Cursor, PostIfClosed: true}, w.Telegram.Sent[0])
	assert.Empty(t, w.Telegram.Texts())
}

// The rest of a transcript before /clear gets its notice before the next transcript.
func TestP5_HeldBeforeAClear(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "front", session.Running)
	one, two := chattest.TranscriptOf(t, "one.jsonl", chattest.Says("one")), chattest.TranscriptOf(t, "two.jsonl", chattest.Says("two"), chattest.TurnEnd)
	r := w.Session(t, "api", session.Completed, one, two)
	w.ReadNow(t, r)
	assert.Equal(t, []string{w.Notice("api", "one"), w.Notice("api", "two")}, w.Telegram.Texts())
}

func TestP5_HeldBeforeAReplacedTranscript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		w.Talk.Reported = true
		r := w.Beside(t, session.Running, chattest.Says("one"), chattest.Says("two"))
		w.Running(t)
		synctest.Wait()
		require.NoError(t, os.WriteFile(r.Cursors[0].Path+".new", []byte(chattest.Says("another")), 0o600))
		require.NoError(t, os.Rename(r.Cursors[0].Path+".new", r.Cursors[0].Path))
		chattest.Changed(r.Cursors[0])
		time.Sleep(time.Second)
		assert.Equal(t, []string{w.Notice("api", "two"), w.Named(i18n.TranscriptReplaced, "api")}, w.Telegram.Texts())
	})
}

// A chat that takes nothing is no reason to pass anything: after the block all of it comes, in
// order.
func TestP5_BlockedChatGetsMissedAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		w.Talk.Reported = true
		c := chattest.TranscriptOf(t, "t.jsonl", chattest.Says("one"), chattest.Says("two"), chattest.Says("three"))
		r := w.NewCurrentSession(t, "api", session.Running, c)
		park := func(suspended bool) {
			w.Telegram.Mu.Lock()
			defer w.Telegram.Mu.Unlock()
			w.Telegram.OnParked = map[int64]bool{chattest.Alice: suspended}
		}
		blocked := make(chan struct{}, 10)
		blocking := true
		w.Telegram.OnSend = func(_ context.Context, m outbox.Message) error {
			if blocking && m.Text.Text == "two" {
				park(true)
				blocked <- struct{}{}
				return fmt.Errorf("send: %w", &outbox.Refused{Err: outbox.ErrBlocked})
			}
			return nil
		}
		w.Running(t)
		chattest.Receive(t, blocked)
		synctest.Wait()
		w.NewTranscript(t, r)
		synctest.Wait()
		assert.Equal(t, []string{"one"}, w.Telegram.AnswersSent())
		assert.Equal(t, int64(len(chattest.Says("one"))), w.Cursors(r)[0].Offset, "and nothing is passed")
		blocking = false
		w.MustHear(t, "/list") // which ends the block
		waittest.Until(t, func() bool { return len(w.Telegram.AnswersSent()) == 3 })
		assert.Equal(t, []string{"one", "two", "three"}, w.Telegram.AnswersSent())
		assert.Empty(t, blocked)
	})
}

func TestP5_BlockedChatGetsNoNotices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		w.Talk.Reported = true
		r := w.Beside(t, session.Running, chattest.Says("one"), chattest.ToolUse)
		w.Running(t)
		synctest.Wait()
		require.Contains(t, w.Telegram.Done(), "typing in 7", "it has read past the text")
		w.Telegram.Mu.Lock()
		w.Telegram.OnParked = map[int64]bool{chattest.Alice: true}
		w.Telegram.Mu.Unlock()
		chattest.Grow(t, r.Cursors[0], chattest.TurnEnd)
		time.Sleep(time.Second)
		assert.Empty(t, w.Telegram.Texts())
		assert.Equal(t, r.Cursors, w.Cursors(r))
	})
}
