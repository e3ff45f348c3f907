package turn

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"

	"ccbot/bot/card"
	"ccbot/bot/outbox"
	"ccbot/port"
	"ccbot/port/talk"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// item returns the n-th item of a transcript, n seconds after noon.
func item(n int, kind talk.Kind, tool *talk.Tool) talk.Item {
	at := func(n int) talk.Cursor { return talk.Cursor{Path: "t.jsonl", Offset: int64(100 * n)} }
	ends := map[talk.Kind]talk.Ending{talk.TurnEnd: talk.EndedTurn, talk.Interrupt: talk.StoppedTurn, talk.APIError: talk.FailedTurn}
	return talk.Item{At: at(n), Next: at(n + 1), Kind: kind, Tool: tool, Time: noon.Add(time.Duration(n) * time.Second), Ends: ends[kind],
		Begins: slices.Contains([]talk.Kind{talk.UserPrompt, talk.Text, talk.Thinking, talk.ToolUse}, kind)}
}

func call(n int, id string) talk.Item {
	return item(n, talk.ToolUse, &talk.Tool{ID: id, Name: "Bash", Step: "command " + id})
}

func prompted() *state {
	return typed(uuid.Nil, talk.Prompt{Key: "7", Mark: &talk.Mark{At: noon, Path: "t.jsonl"}}, noon)
}

func TestTake(t *testing.T) {
	for _, tt := range []struct {
		name  string
		items []talk.Item
		want  string // steps, failures, how it ended
	}{
		{"nothing", nil, "0 0 "},
		{"a call", []talk.Item{call(1, "a")}, "1 0 "},
		{"twice", []talk.Item{call(1, "a"), call(1, "a")}, "1 0 "},
		{"a result", []talk.Item{call(1, "a"), item(2, talk.ToolResult, &talk.Tool{ID: "a"})}, "1 0 "},
		{"a failure", []talk.Item{call(1, "a"), item(2, talk.ToolResult, &talk.Tool{ID: "a", Failed: true})}, "1 1 "},
		{"a refusal", []talk.Item{call(1, "a"), item(2, talk.ToolResult, &talk.Tool{ID: "a", Denied: true})}, "1 1 "},
		{"the to-do list", []talk.Item{item(1, talk.ToolUse, &talk.Tool{ID: "a", Name: "TodoWrite"})}, "0 0 "},
		{"the end", []talk.Item{call(1, "a"), item(2, talk.TurnEnd, nil), call(3, "b")}, "1 0 done"},
		{"an interrupt", []talk.Item{item(1, talk.Interrupt, nil)}, "0 0 stopped"},
		{"an error", []talk.Item{item(1, talk.APIError, nil)}, "0 0 failed"},
		{"of a subagent", []talk.Item{func() talk.Item { i := item(1, talk.APIError, nil); i.Sidechain = true; return i }()}, "0 0 "},
		{"of the original of a copy", []talk.Item{func() talk.Item { i := call(1, "a"); i.Time = noon.Add(-time.Hour); return i }()}, "0 0 "},
		{"of an earlier transcript", []talk.Item{call(1, "a"), func() talk.Item { i := call(1, "b"); i.At.Path, i.Time = "u.jsonl", noon; return i }()}, "1 0 "},
		{"of a later one", []talk.Item{call(1, "a"), func() talk.Item { i := call(2, "b"); i.At.Path = "u.jsonl"; return i }()}, "2 0 "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := prompted()
			for _, i := range tt.items {
				s.take(i, noon)
			}
			assert.Equal(t, tt.want, fmt.Sprint(s.Count, s.Failed)+" "+string(s.End))
		})
	}
}

func TestStateKeepsLastSteps(t *testing.T) {
	s := prompted()
	s.take(item(1, talk.ToolUse, &talk.Tool{ID: "s", Name: "Agent", Step: "Agent look around"}), noon)
	for n := range 20 {
		s.take(call(2+n, fmt.Sprint(n)), noon)
	}
	assert.Len(t, s.Steps, shownSteps+1)
	assert.Equal(t, step{ID: "s", Line: "look around", Agent: true, Began: noon.Add(time.Second)}, s.Steps[0])
	assert.Equal(t, "command 15", s.Steps[1].Line)
	assert.Equal(t, 21, s.Count)
	s.take(item(30, talk.ToolResult, &talk.Tool{ID: "s", Background: true}), noon)
	assert.Zero(t, s.Steps[0].Ended, "it has only been started")
	s.take(item(31, talk.TaskEnded, &talk.Tool{ID: "s"}), noon)
	assert.Equal(t, noon.Add(31*time.Second), s.Steps[0].Ended)
}

func TestIsNextOfAnotherPrompt(t *testing.T) {
	s := prompted()
	prompt := item(1, talk.UserPrompt, nil)
	assert.False(t, s.isNext(prompt), "its own")
	s.take(prompt, noon)
	assert.False(t, s.isNext(prompt), "told again")
	assert.True(t, s.isNext(item(2, talk.UserPrompt, nil)))
	desk := begun(uuid.Nil, call(1, "a"), noon)
	desk.take(call(1, "a"), noon)
	assert.True(t, desk.isNext(item(2, talk.UserPrompt, nil)))
}

func TestIsOfLatePrompt(t *testing.T) {
	desk := begun(uuid.Nil, item(1, talk.UserPrompt, nil), noon)
	assert.True(t, desk.isOf(prompted()))
	assert.Equal(t, "7", desk.Prompt)
	assert.True(t, desk.isOf(prompted()), "and again")
	later := prompted()
	later.Prompt, later.Began, later.From.Offset = "8", noon.Add(time.Minute), 500
	assert.False(t, desk.isOf(later))
	assert.False(t, begun(uuid.Nil, item(1, talk.UserPrompt, nil), noon).isOf(later), "an earlier turn")
}

func TestLookIgnoresEarlierActivity(t *testing.T) {
	for _, tt := range []struct {
		now   talk.Phase
		since time.Duration
		want  talk.Ending
	}{
		{talk.PhaseIdle, -time.Second, ""}, {talk.PhaseIdle, time.Second, talk.EndedTurn}, {talk.PhaseWorking, time.Second, ""}, {talk.PhaseWaitingAnswer, time.Second, ""},
		{talk.PhaseUnknown, time.Second, ""}, {talk.PhaseLoggedOut, time.Second, talk.FailedTurn}, {talk.PhaseBlocked, time.Second, talk.FailedTurn}, {talk.PhaseAPIError, time.Second, talk.FailedTurn},
	} {
		s := prompted()
		s.setActivity(talk.Activity{Phase: tt.now}, noon.Add(tt.since))
		how, _ := s.fate(port.Session{State: port.StateRunning}, noon)
		assert.Equal(t, tt.want, how, "%v", tt)
	}
	s := prompted()
	s.setActivity(talk.Activity{Phase: talk.PhaseAPIError, Until: noon.Add(time.Minute)}, noon.Add(time.Second))
	how, _ := s.fate(port.Session{State: port.StateRunning}, noon)
	assert.Empty(t, how, "it is tried again")
}

// A turn without news of its end has ended with its session, not when that is found.
func TestFateFollowsSession(t *testing.T) {
	at := func(after time.Duration) time.Time { return noon.Add(after) }
	for _, tt := range []struct {
		name string
		r    port.Session
		how  talk.Ending
		at   time.Time
	}{
		{"it runs", port.Session{State: port.StateRunning, StartedAt: at(-time.Hour)}, "", at(time.Hour)},
		{"the session is over", port.Session{EndedAt: at(time.Minute)}, cut, at(time.Minute)},
		{"and it is not known since when", port.Session{}, cut, at(time.Hour)},
		{"and is back", port.Session{State: port.StateRunning, StartedAt: at(time.Minute)}, cut, at(time.Second)},
	} {
		s := prompted()
		s.At, s.Now.Phase = at(time.Second), talk.PhaseWorking
		how, ended := s.fate(tt.r, at(time.Hour))
		assert.Equal(t, []any{tt.how, tt.at}, []any{how, ended}, tt.name)
		s.follow(tt.r, s.At)
		assert.Equal(t, tt.how == cut, s.End == cut, tt.name)
	}
}

func TestSpend(t *testing.T) {
	s := prompted()
	s.spend(port.Work{Model: "opus", Usage: &port.Usage{Context: 10, Cost: 2}}, false)
	s.spend(port.Work{Usage: &port.Usage{Context: 20, Cost: 2.5}, Tasks: []port.Task{{Text: "a", Status: "completed"}, {Text: "b", Status: "in_progress"}}}, true)
	assert.Equal(t, []any{"opus", 20.0, 0.5, todo{Done: 1, All: 2, Item: "b"}}, []any{s.Model, s.Context, s.Cost, *s.Todo})
	s.spend(port.Work{Usage: &port.Usage{Cost: 0.1}}, false)
	assert.Zero(t, s.Cost, "after a /clear it begins anew")
}

func TestRank(t *testing.T) {
	works, idles := state{Now: talk.Activity{Phase: talk.PhaseWorking}}, state{Now: talk.Activity{Phase: talk.PhaseIdle}}
	shown := card.Card[state]{Payload: works, Sent: true}
	assert.Equal(t, outbox.Opening, works.rank(false, card.Card[state]{}))
	assert.Equal(t, outbox.Turning, works.rank(true, card.Card[state]{Payload: works}), "it is not in the chat yet")
	assert.Equal(t, outbox.Card, works.rank(true, shown))
	assert.Equal(t, outbox.Turning, idles.rank(true, shown), "the phase has changed")
	assert.Equal(t, outbox.Closing, (&state{Now: works.Now, End: talk.EndedTurn}).rank(true, shown), "the turn is over")
}

// A card that is not in the chat when its turn ends is sent only if no other message reports the
// end.
func TestReportedEnds(t *testing.T) {
	for _, tt := range []struct {
		name string
		s    state
		want bool
	}{
		{"it runs", state{Responded: true}, false},
		{"an answer", state{Responded: true, End: talk.EndedTurn}, true},
		{"no words", state{Count: 1, End: talk.EndedTurn}, false},
		{"a failure without a line", state{End: talk.FailedTurn}, false},
		{"a stop", state{End: talk.StoppedTurn}, true},
		{"the end of the session", state{End: cut}, true},
	} {
		assert.Equal(t, tt.want, tt.s.isReported(), tt.name)
	}
}
