package bot_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/turn"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// traffic counts what reaches a person.
type traffic struct{ Messages, Edits, Sounds int }

func (a traffic) minus(b traffic) traffic {
	return traffic{a.Messages - b.Messages, a.Edits - b.Edits, a.Sounds - b.Sounds}
}

// trafficOf counts the messages of the chat so far. A card that counts as posted is also in Sent.
func trafficOf(w *chattest.World) (n traffic) {
	w.Telegram.Mu.Lock()
	defer w.Telegram.Mu.Unlock()
	count := func(m outbox.Message) {
		n.Messages++
		if m.Sounds {
			n.Sounds++
		}
	}
	for _, m := range w.Telegram.Sent {
		count(m)
	}
	for _, m := range w.Telegram.Posted {
		if m.Name == "" {
			count(m)
		}
	}
	for _, f := range w.Telegram.Files {
		count(outbox.Message{Sounds: f.Sounds})
	}
	n.Edits = len(w.Telegram.Edited) + len(w.Telegram.Ended)
	return n
}

// dayTurn is a turn of the day, by what happens in it.
type dayTurn string

const (
	plainTurn    dayTurn = "a turn"
	askingTurn   dayTurn = "a turn with a permission"
	choosingTurn dayTurn = "a turn with a question"
	stoppedTurn  dayTurn = "a turn that a person stops"
)

// inDay is a test with eight agents in Alice's chat, whose turns have cards.
func inDay(t *testing.T, test func(t *testing.T, agents []*turnWorld)) {
	t.Helper()
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.Steps, w.Talk.Reported = turn.OnCard, true
		w.Restart(t)
		var agents []*turnWorld
		for i := range 8 {
			id := uuid.New()
			a := &turnWorld{World: w, t: t, c: chattest.TranscriptOf(t, id.String()+".jsonl")}
			a.r = w.Session(t, fmt.Sprintf("agent%d", i+1), session.Running, a.c)
			w.Records.Change(a.r.ID, func(r *session.Record) { r.AgentSessionID = id })
			a.tells(news.Transcript{})
			agents = append(agents, a)
		}
		test(t, agents)
	})
}

// asks sends a prompt to the agent, which begins to work on it.
func (w *turnWorld) asks(text string) {
	w.t.Helper()
	require.NoError(w.t, w.Chats.SetCurrent(chattest.AtAlice, w.r.ID))
	key := w.MustHear(w.t, text)
	w.Becomes(w.t, key, inbox.Typing)
	w.tells(news.Typed{Prompt: talk.Prompt{Key: key, Text: text, Class: talk.ClassPlain,
		Mark: &talk.Mark{At: time.Now(), Path: w.c.Path}}})
	w.phase("working")
	w.writes(chattest.PromptLine(text))
	w.tells(news.Delivered{Prompt: talk.Prompt{Key: key, Text: text, Class: talk.ClassPlain}})
	w.Records.Change(w.r.ID, func(r *session.Record) { r.Prompts = nil })
	require.NoError(w.t, w.Inbox.Finish(key))
}

// goesOn lets the turn take its way until its end.
func (w *turnWorld) goesOn(kind dayTurn, call string) {
	w.t.Helper()
	w.writes(bash(call, "make test"))
	switch kind {
	case askingTurn:
		w.answers("Bash", chattest.Bash, w.Word(i18n.AskAllow))
	case choosingTurn:
		w.answers("AskUserQuestion", `{"questions":[{"question":"Which colour?","options":[{"label":"Red"},{"label":"Blue"}]}]}`, "Red")
	case stoppedTurn:
		w.MustHear(w.t, "/stop")
		w.writes(toolResult(call, true), chattest.Interrupt)
		w.phase("idle")
		w.Later(time.Minute)
		return
	}
	w.writes(toolResult(call, false), chattest.Says("All tests pass."), chattest.TurnEnd)
	w.phase("idle")
	w.Later(time.Minute)
}

// answers lets the agent ask, and a person tap the button with a word a minute later.
func (w *turnWorld) answers(tool, input, word string) {
	w.t.Helper()
	w.phase("permission")
	q := w.AsksFor(w.t, w.r, tool, input)
	w.Later(time.Minute)
	w.Press(w.t, chattest.Alice, w.Message(w.t, q), word)
	w.Result(w.t, q, "allow", "ok", false)
	w.HangsUp(q)
	w.phase("working")
}

// turnAtMost is the traffic of one turn. A change may lower it.
var turnAtMost = map[dayTurn]traffic{
	plainTurn:    {Messages: 2, Edits: 4, Sounds: 1},
	askingTurn:   {Messages: 3, Edits: 4, Sounds: 2},
	choosingTurn: {Messages: 3, Edits: 5, Sounds: 2},
	stoppedTurn:  {Messages: 2, Edits: 3},
}

// A day has 60 prompts to eight agents. 20 of them lead to a question, which is answered, and three
// are stopped. In every fourth turn the person turns to the next agent before the turn ends.
func TestDayHasNoMoreTraffic(t *testing.T) {
	inDay(t, func(t *testing.T, agents []*turnWorld) {
		for n := range 60 {
			a, kind := agents[n%len(agents)], plainTurn
			switch {
			case n%6 == 0:
				kind = askingTurn
			case n%3 == 0:
				kind = choosingTurn
			case n == 10, n == 32, n == 50:
				kind = stoppedTurn
			}
			before := trafficOf(a.World)
			a.asks(fmt.Sprintf("task %d", n))
			if n%4 == 3 {
				require.NoError(t, a.Chats.SetCurrent(chattest.AtAlice, agents[(n+1)%len(agents)].r.ID))
			}
			a.goesOn(kind, fmt.Sprintf("call%d", n))
			now := trafficOf(a.World).minus(before)
			most := turnAtMost[kind]
			assert.LessOrEqual(t, now.Messages, most.Messages, "messages of %s, number %d", kind, n)
			assert.LessOrEqual(t, now.Edits, most.Edits, "edits of %s, number %d", kind, n)
			assert.LessOrEqual(t, now.Sounds, most.Sounds, "sounds of %s, number %d", kind, n)
		}
	})
}
