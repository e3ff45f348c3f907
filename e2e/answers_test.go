package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
	"ccbot/try/demoagent"
)

// said returns the bot's messages after message id, in order; for a file its name.
func (w *world) said(after int) (all []string) {
	w.t.Helper()
	for _, m := range w.api.Messages(w.chat()) {
		switch {
		case !m.FromBot || m.ID <= after:
		case m.Document != nil:
			all = append(all, m.Document.FileName)
		default:
			all = append(all, m.Body())
		}
	}
	return all
}

// TestP5_OtherSessionSendsNoticeUntilOpened lets a session that is not the current one answer: the
// chat has one silent notice, and the whole answer once the session is opened.
func TestP5_OtherSessionSendsNoticeUntilOpened(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("back", w.dir)
	w.open("front", w.dir)
	w.use("back")
	w.say("slow until told")
	w.until("it works", func() bool { return w.screenHas("back", "slow word slow word") })
	w.use("front")
	id := w.lastID()
	w.makes("told")
	notice := w.offered(id, "Open")
	assert.True(t, strings.HasPrefix(notice.Text, "back is done: slow word slow word"), notice.Text)
	assert.True(t, notice.Silent)
	w.hear(w.say("say from the front"), "from the front")
	assert.Equal(t, 1, w.heard("back is done"))
	assert.Zero(t, w.heard("back\nslow word"), "the answer itself is not sent")

	w.tap(notice, "Open")
	assert.Contains(t, w.hear(notice.ID, "back\nslow word").Text, "slow word slow word")
	w.until("the button is gone", func() bool {
		m, ok := w.api.Message(w.chat(), notice.ID)
		return ok && len(m.Keyboard) == 0
	})
	assert.Equal(t, "back", w.current())
	w.hear(w.say("say from the back"), "from the back")
	w.stop()
}

// TestP5_PendingAnswerComesWhenOpened opens a session during its turn, after a crash.
func TestP5_PendingAnswerComesWhenOpened(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("back", w.dir)
	w.open("front", w.dir)
	w.use("back")
	w.say("slow until told")
	w.say("bash make test")
	w.until("the prompt is there", func() bool { return len(w.received()) == 1 })
	w.use("front")
	w.makes("told")
	w.hear(0, "wants to run a command")
	assert.Zero(t, w.heard("Let me run that."))
	w.drained() // a kill before the request's message is noted would show the request twice
	w.kill9()
	w.start()
	id := w.lastID()
	w.use("back")
	w.hear(id, "Let me run that.")
	assert.Equal(t, 1, w.heard("Let me run that."))
	w.tap(w.hear(id, "wants to run a command"), "Allow") // it came again below
	w.hear(id, "I pretended to run it.")
	w.stop()
}

// TestP5_KillDuringLongAnswer kills the bot twice between the parts of an answer: each kill repeats
// at most one part, and none is lost.
func TestP5_KillDuringLongAnswer(t *testing.T) {
	inShortRun(t, "a kill between the transcript and Telegram")
	t.Parallel()
	const size = 30_000
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.drained()
	id := w.say("long 30000")
	for _, parts := range []int{2, 5} {
		w.until("some parts are there", func() bool { return len(w.said(id)) >= parts })
		w.kill9()
		w.start()
	}
	lines := strings.Split(strings.TrimSpace(demoagent.Long(size)), "\n")
	w.hear(id, lines[len(lines)-2])
	w.hear(w.say("say the end"), "the end")
	var parts []string
	repeated := 0
	for _, text := range w.said(id) {
		if len(parts) > 0 && parts[len(parts)-1] == text {
			repeated++
			continue
		}
		parts = append(parts, text)
	}
	assert.LessOrEqual(t, repeated, 2)
	fences := strings.NewReplacer("```go", "", "```", "")
	assert.Equal(t, strings.Fields(fences.Replace(demoagent.Long(size))+" the end"), strings.Fields(strings.Join(parts, "\n")))
	w.stop()
}

// TestP5_RefusedPartBlocksNothing refuses an answer with and without formatting, then also as a
// file.
func TestP5_RefusedPartBlocksNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.drained()
	bad := botapi.Fault{Method: "sendMessage", Kind: botapi.FaultStatus, Status: 400, Description: "Bad Request: not today", Times: 2}
	w.api.Fault(bad)
	id := w.say("say as a **file**")
	w.until("it is a file", func() bool { return len(w.said(id)) == 1 })
	assert.Equal(t, []string{"answer.txt"}, w.said(id))
	w.hear(w.say("say next"), "next")
	w.drained()
	w.agentIsIdle("work") // a text that waits for the end of a turn is told so in a message, which would be refused instead

	w.api.Fault(bad)
	w.api.Fault(botapi.Fault{Method: "sendDocument", Kind: botapi.FaultStatus, Status: 400, Description: "Bad Request: not today"})
	id = w.say("say in **no** form")
	missing := w.hear(id, "⚠ Telegram refused a part")
	assert.Contains(t, missing.Text, "tmux -L "+w.socket+" attach")
	w.hear(w.say("say the last"), "the last")
	assert.Contains(t, w.bot.log.String(), "answer_refused")
	w.stop()
}

// TestP5_BlockedChatGetsAnswersInOrder blocks the bot during two answers.
func TestP5_BlockedChatGetsAnswersInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.drained()
	w.say("slow until told")
	id := w.say("say the second")
	w.until("the first is there", func() bool { return w.screenHas("work", "slow word slow word") })
	w.person.Block(true)
	w.makes("told")
	w.until("the second is there", func() bool {
		return len(w.received()) == 2 && strings.Contains(w.transcript(w.claudeID()), `"text":"the second"`)
	})
	w.until("the chat is parked", func() bool { return strings.Contains(w.bot.log.String(), "chat_parked") })
	answers := func() []string { // a text that waits for five seconds is told so
		return slices.DeleteFunc(w.said(id), func(text string) bool {
			return !strings.HasPrefix(text, "slow word") && !strings.HasPrefix(text, "the ")
		})
	}
	assert.Empty(t, answers())
	w.kill9()
	w.start()
	w.person.Block(false)
	w.hear(w.say("say the third"), "the third")
	got := answers()
	require.Len(t, got, 3)
	assert.True(t, strings.HasPrefix(got[0], "slow word"))
	assert.Equal(t, []string{"the second", "the third"}, got[1:])
	w.stop()
}

// TestP5_RichAnswersIfSupported shows the same answer on servers with and without rich messages.
func TestP5_RichAnswersIfSupported(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		env  []string
		has  bool
		want bool
	}{
		{"a server that has them", nil, true, true},
		{"an older server", nil, false, false},
		{"switched off", []string{"CCBOT_RICH_MESSAGES=off"}, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorldAt(t, botapi.Options{Rich: tt.has}, tt.env...)
			w.start()
			w.open("work", w.dir)
			id := w.say("code")
			m := w.find("the tour is there", func(m botapi.Message) bool {
				return m.ID > id && strings.Contains(m.Body(), "A tour of Markdown")
			})
			if tt.want {
				assert.Contains(t, m.RichMarkdown, "| Fruit |")
			} else {
				assert.Empty(t, m.RichMarkdown)
				assert.NotEmpty(t, m.Entities)
			}
			id = w.say("say **the** end")
			w.find("the end is there", func(m botapi.Message) bool { return m.ID > id && strings.Contains(m.Body(), "end") })
			w.stop()
		})
	}
}
