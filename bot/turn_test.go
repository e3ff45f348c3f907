package bot_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
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
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// turnWorld is a session whose turns have cards, with a bot that runs.
type turnWorld struct {
	*chattest.World
	t *testing.T
	r session.Record
	c talk.Cursor
	n int // lines and prompts so far
}

// inTurns is a test with the current session of Alice's chat.
func inTurns(t *testing.T, steps turn.Steps, test func(t *testing.T, w *turnWorld)) {
	t.Helper()
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.Steps, w.Talk.Reported = steps, true
		w.Restart(t)
		id := uuid.New()
		c := chattest.TranscriptOf(t, id.String()+".jsonl")
		r := w.NewCurrentSession(t, "api", session.Running, c)
		w.Records.Change(r.ID, func(r *session.Record) { r.AgentSessionID = id })
		tw := &turnWorld{World: w, t: t, r: r, c: c}
		tw.tells(news.Transcript{})
		test(t, tw)
	})
}

func (w *turnWorld) tells(n news.News) {
	w.t.Helper()
	require.NoError(w.t, w.SessionNews(w.t.Context(), w.Record(w.t, w.r.ID), n))
	w.Work(w.t)
}

// phase sets the agent's noted phase.
func (w *turnWorld) phase(name string) {
	w.t.Helper()
	time.Sleep(time.Millisecond)
	w.setPhase(name)
	w.tells(news.Doing{})
}

func (w *turnWorld) setPhase(name string) {
	w.Records.Change(w.r.ID, func(r *session.Record) { r.Phase, r.PhaseAt = name, time.Now() })
}

// types types a prompt, and the agent starts on it. It returns the news of the prompt.
func (w *turnWorld) types(text string) news.Typed {
	w.t.Helper()
	n := w.newPrompt(text)
	w.tells(n)
	w.phase("working")
	return n
}

// newPrompt lets a prompt be typed whose news come later.
func (w *turnWorld) newPrompt(text string) news.Typed {
	w.t.Helper()
	e := w.Prompt(w.t, w.r, text, "typing")
	at, err := os.Stat(w.c.Path)
	require.NoError(w.t, err)
	n := news.Typed{Prompt: talk.Prompt{Key: e.Key, Text: text, Class: talk.ClassPlain,
		Mark: &talk.Mark{At: time.Now(), Path: w.c.Path, Offset: at.Size()}}}
	time.Sleep(time.Millisecond)
	return n
}

// writes adds lines to the transcript, a moment apart, and waits until they are read.
func (w *turnWorld) writes(lines ...string) {
	w.t.Helper()
	for _, line := range lines {
		w.n++
		stamp := fmt.Sprintf(`{"uuid":"l%d","timestamp":%q,`, w.n, time.Now().UTC().Format(time.RFC3339Nano))
		chattest.Grow(w.t, w.c, stamp+strings.TrimPrefix(line, "{"))
		w.Later(time.Second)
	}
	w.Work(w.t)
}

func toolUse(id, name string, input map[string]any) string {
	data, _ := json.Marshal(map[string]any{"type": "assistant", "message": map[string]any{"id": "m" + id, "stop_reason": "tool_use", "usage": map[string]any{},
		"content": []any{map[string]any{"type": "tool_use", "id": id, "name": name, "input": input}}}})
	return string(data) + "\n"
}

func bash(id, command string) string { return toolUse(id, "Bash", map[string]any{"command": command}) }

func toolResult(id string, failed bool) string {
	data, _ := json.Marshal(map[string]any{"type": "user", "message": map[string]any{
		"content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "is_error": failed, "content": "said"}}}})
	return string(data) + "\n"
}

// cards are the messages that are cards of turns, by their ids.
func (w *turnWorld) cards() (ids []int) {
	w.Telegram.Mu.Lock()
	defer w.Telegram.Mu.Unlock()
	for i, m := range w.Telegram.Sent {
		words := chattest.Words(m)
		if m.Name != "" && (slices.Contains(words, "Stop") || slices.Contains(words, "Details")) {
			ids = append(ids, i+1)
		}
	}
	return ids
}

// card is the text of the only card, when the chat has taken the last edit of it.
func (w *turnWorld) card() string {
	w.t.Helper()
	w.Later(outbox.CardsEach)
	all := w.cards()
	require.Len(w.t, all, 1)
	return w.Shows(w.t, all[0]).Text.Text
}

func TestTurnIsOneMessage(t *testing.T) {
	inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
		w.Lifecycle.OnLook = view.Status{Usage: &port.Usage{Model: "Opus 5.5", Context: 41.6, Cost: 1}}
		began := time.Now().Local().Format("15:04")
		typed := w.types("mend it")
		assert.Equal(t, "api · working since "+began+"\nOpus 5.5 · 42% of context", w.card())
		first := w.Telegram.Sent[0]
		assert.False(t, first.Sounds)
		w.tells(typed) // an Enter was lost
		w.phase("working")
		w.writes(chattest.PromptLine("mend it"), bash("a", "go test "+w.r.Dir+"/x"), toolResult("a", true), bash("b", "go build ./..."))
		card := w.card()
		assert.Contains(t, card, "✗ go test x · 1 s\n▸ go build ./...")
		w.phase("waiting_permission")
		assert.Contains(t, w.card(), w.Word(i18n.PhaseWaitingPermission)+" since")
		assert.Equal(t, outbox.Turning, w.Telegram.LastEdit(t).Rank, "a change of phase goes first")
		w.phase("working")
		w.writes(toolResult("b", false))
		assert.Contains(t, w.card(), "✓ go build")
		assert.Equal(t, outbox.Card, w.Telegram.LastEdit(t).Rank)
		w.Lifecycle.OnLook = view.Status{Usage: &port.Usage{Model: "Opus 5.5", Context: 44, Cost: 1.214}}
		w.writes(chattest.Says("done"), chattest.TurnEnd)
		w.phase("idle")
		assert.Equal(t, "api · done in 18 s · 2 steps · 1 failed · $0.21", w.card())
		assert.Equal(t, w.WordsOf(i18n.ButtonChanges, i18n.ButtonDetails), chattest.Words(w.Shows(t, w.cards()[0])))
		edits := len(w.Telegram.Edited)
		w.tells(news.Doing{})
		w.Later(time.Hour)
		assert.Len(t, w.Telegram.Edited, edits, "nothing is edited without a change, nor for the time")
		w.types("again")
		assert.Len(t, w.cards(), 2, "each turn has its own")
	})
}

func TestCardShowsTasksAndSubagents(t *testing.T) {
	inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
		w.types("go")
		w.phase("working")
		todos := []any{map[string]any{"content": "one", "status": "completed"}, map[string]any{"content": "two", "status": "in_progress"},
			map[string]any{"content": "three", "status": "pending"}}
		w.writes(chattest.PromptLine("go"), toolUse("t", "TodoWrite", map[string]any{"todos": todos}), toolResult("t", false),
			toolUse("s", "Agent", map[string]any{"description": "look around"}))
		assert.Contains(t, w.card(), "☰ 1/3: two\n◆ look around")
		w.writes(toolResult("s", false))
		assert.Contains(t, w.card(), "✓ look around · 4 s")
	})
}

func TestCardContinuesAfterRestart(t *testing.T) {
	for _, ended := range []bool{false, true} {
		inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
			w.types("go")
			w.phase("working")
			w.writes(chattest.PromptLine("go"), bash("a", "one"), toolResult("a", false))
			w.Stops(t)
			lines := []string{bash("b", "two"), toolResult("b", false)}
			if ended {
				lines = append(lines, chattest.Says("done"), chattest.TurnEnd)
			}
			w.writes(lines...)
			w.Restart(t)
			if ended {
				w.phase("idle")
				assert.Contains(t, w.card(), "done in")
				assert.Contains(t, w.card(), "2 steps")
				return
			}
			assert.Contains(t, w.card(), "✓ one · 1 s\n✓ two · 1 s")
			w.writes(bash("c", "three"))
			assert.Contains(t, w.card(), "▸ three")
		})
	}
}

func TestOnlyCurrentSessionHasCard(t *testing.T) {
	inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
		other := w.Session(t, "other", session.Running)
		require.NoError(t, w.MakeCurrent(t.Context(), chattest.AtAlice, 0, other.ID))
		w.types("go")
		w.phase("working")
		w.writes(chattest.PromptLine("go"), bash("a", "one"))
		assert.Empty(t, w.cards())
		require.NoError(t, w.MakeCurrent(t.Context(), chattest.AtAlice, 0, w.r.ID))
		w.Work(t)
		assert.Contains(t, w.card(), "▸ one", "it comes to the front in the middle of a turn")
		require.NoError(t, w.MakeCurrent(t.Context(), chattest.AtAlice, 0, other.ID))
		w.writes(toolResult("a", false), chattest.TurnEnd)
		w.phase("idle")
		assert.Contains(t, w.card(), "done in", "and lives to the end")
	})
}

func TestTerminalTurnHasCard(t *testing.T) {
	inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
		w.phase("idle")
		w.writes(chattest.PromptLine("go"))
		assert.Empty(t, w.cards(), "the agent is not seen to work")
		w.phase("working")
		w.writes(bash("a", "one"))
		assert.Contains(t, w.card(), "▸ one")
		w.phase("idle") // an older version writes no end
		assert.Contains(t, w.card(), "done in")
	})
}

func TestHowATurnEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(w *turnWorld)
		want string
	}{
		"stopped":         {func(w *turnWorld) { w.writes(chattest.Interrupt) }, "stopped after"},
		"failed":          {func(w *turnWorld) { w.writes(chattest.APIError) }, "failed after"},
		"logged out":      {func(w *turnWorld) { w.phase("logged_out") }, "failed after"},
		"the agent ended": {func(w *turnWorld) { w.tells(news.Ended{}) }, "ended after"},
		"not typed":       {func(w *turnWorld) { w.tells(news.Unproven{Prompt: talk.Prompt{Key: "0"}}) }, "working since"},
		"another prompt":  {func(w *turnWorld) { w.types("more") }, "done in"},
	} {
		t.Run(name, func(t *testing.T) {
			inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
				w.types("go")
				w.phase("working")
				w.writes(chattest.PromptLine("go"), bash("a", "one"))
				tt.do(w)
				w.Later(time.Minute)
				assert.Contains(t, w.Shows(t, w.cards()[0]).Text.Text, tt.want)
			})
		})
	}
}

// TestPromptIsTurnOnceAgentWorks presses an Enter that submits nothing for a while: no card shows a
// working agent. The card comes when the agent works.
func TestPromptIsTurnOnceAgentWorks(t *testing.T) {
	inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
		n := w.newPrompt("go")
		w.tells(n)
		w.Later(time.Minute)
		w.tells(news.Doing{})
		assert.Empty(t, w.cards())
		w.phase("working")
		assert.Contains(t, w.card(), "working since")
	})
}

func TestLostPromptHasNoTurn(t *testing.T) {
	inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
		n := w.newPrompt("go")
		w.tells(n)
		w.tells(news.Unproven{Prompt: n.Prompt})
		w.Later(time.Minute)
		assert.Empty(t, w.cards())
	})
	inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
		n := w.types("go")
		w.tells(news.Unproven{Prompt: n.Prompt})
		w.Later(outbox.CardsEach)
		assert.Contains(t, w.card2(), "stopped after")
	})
}

// card2 returns the first card in a chat that also has questions.
func (w *turnWorld) card2() string {
	w.t.Helper()
	return w.Shows(w.t, w.cards()[0]).Text.Text
}

func TestDeletedCardReturnsOnce(t *testing.T) {
	inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
		w.types("go")
		w.Telegram.OnEdit = func(outbox.Message) error { return &outbox.Refused{Err: outbox.ErrGone} }
		w.phase("working")
		w.writes(chattest.PromptLine("go"), bash("a", "one"))
		w.Later(outbox.CardsEach)
		w.Work(t)
		assert.Len(t, w.cards(), 2)
		w.writes(toolResult("a", false), bash("b", "two"))
		w.phase("waiting_permission")
		assert.Len(t, w.cards(), 2)
		w.Telegram.OnEdit = nil
		w.writes(chattest.TurnEnd)
		w.types("more")
		assert.Len(t, w.cards(), 3, "the next turn has its own")
	})
}

func TestCardCanBeTappedDuringUpdate(t *testing.T) {
	inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
		w.types("go")
		w.phase("working")
		early := w.Shows(t, w.cards()[0]) // as a phone shows it that the edits have not reached
		w.writes(chattest.PromptLine("go"), bash("a", "one"))
		stop := chattest.DataBehind(t, early, w.Word(i18n.ButtonStop))
		require.NoError(t, w.Handle(t.Context(), "1", chattest.TapOn(chattest.Bob, chattest.Telegrams(w.cards()[0], early), stop)))
		w.Work(t)
		assert.Contains(t, w.Lifecycle.Done(), "interrupt "+w.r.ID.String())
		w.writes(chattest.TurnEnd)
		w.phase("idle")
		require.NoError(t, w.Handle(t.Context(), "1", chattest.TapOn(chattest.Bob, chattest.Telegrams(w.cards()[0], early), stop)))
		w.Work(t)
		count := 0
		for _, line := range w.Lifecycle.Done() {
			if strings.HasPrefix(line, "interrupt") {
				count++
			}
		}
		assert.Equal(t, 1, count, "a card of last week stops nothing")
	})
}

func TestDetailsAreAllSteps(t *testing.T) {
	inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
		w.types("go")
		w.phase("working")
		w.writes(chattest.PromptLine("go"))
		for i := range 8 {
			w.writes(bash(fmt.Sprint(i), fmt.Sprintf("command %d", i)), toolResult(fmt.Sprint(i), i == 3))
		}
		w.writes(chattest.TurnEnd)
		w.phase("idle")
		w.types("more")
		w.writes(chattest.PromptLine("more"), bash("z", "of the next turn"))
		w.Press(t, chattest.Bob, w.cards()[0], w.Word(i18n.ButtonDetails))
		all := w.Shows(t, w.cards()[0])
		assert.Equal(t, 8, strings.Count(all.Text.Text, "command "))
		assert.Contains(t, all.Text.Text, "✗ command 3 · 1 s")
		assert.NotContains(t, all.Text.Text, "next turn")
	})
}

func TestCardCanCompactContext(t *testing.T) {
	inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
		w.Lifecycle.OnLook = view.Status{Usage: &port.Usage{Context: 79.9}}
		w.types("go")
		assert.False(t, w.Has(w.Shows(t, 1), i18n.ButtonCompact))
		w.Lifecycle.OnLook = view.Status{Usage: &port.Usage{Context: 80}}
		w.phase("working")
		w.Press(t, chattest.Bob, 1, w.Word(i18n.ButtonCompact))
		w.Press(t, chattest.Alice, 1, w.Word(i18n.ButtonCompact))
		entries, err := w.Inbox.List()
		require.NoError(t, err)
		entries = slices.DeleteFunc(entries, func(e inbox.Entry) bool { return e.Text != "/compact" })
		assert.Len(t, entries, 1, "two people are one")
	})
}

// A turn that has ended because the context is full offers what helps, unless the agent cannot compact.
func TestFullContextOffersCompact(t *testing.T) {
	const full = `{"type":"assistant","isApiErrorMessage":true,"error":"invalid_request","message":{"content":[{"type":"text","text":"Prompt is too long"}]}}` + "\n"
	for _, tt := range []struct {
		name         string
		can, working bool
		cards        int
		want         bool
	}{
		{"a turn with a card", true, true, 1, true},
		{"a turn that ends before it has one", true, false, 1, true},
		{"an agent that cannot compact", false, true, 1, false},
		{"such an agent's turn without a card", false, false, 0, false},
	} {
		inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
			w.Machine.Records = lacking{w.Machine.Records, func(a *port.Abilities) { a.Compact = tt.can }}
			w.Restart(t)
			if tt.working {
				w.types("go")
			} else {
				w.tells(w.newPrompt("go"))
			}
			w.writes(chattest.PromptLine("go"), full)
			w.phase("api_error")
			require.Len(t, w.cards(), tt.cards, tt.name)
			for _, id := range w.cards() {
				assert.Equal(t, tt.want, w.Has(w.Shows(t, id), i18n.ButtonCompact), tt.name)
			}
		})
	}
}

// The same refusal of what a request holds, twice in a row, is no message's fault: the way out is offered. Every other
// error, and the first, asks for the message again.
func TestSameRefusalOffersWayOut(t *testing.T) {
	refused := func(status int, text string) string {
		return fmt.Sprintf(`{"type":"assistant","isApiErrorMessage":true,"apiErrorStatus":%d,"message":{"content":[{"type":"text","text":"API Error: %d %s"}]}}`+"\n", status, status, text)
	}
	none := func(*port.Abilities) {}
	inTerminal := func(a *port.Abilities) { a.Prose = true }
	cannotCompact := func(a *port.Abilities) { a.Compact = false }
	prompt := chattest.PromptLine("go")
	const compacted = `{"type":"system","subtype":"compact_boundary","content":"Conversation compacted"}` + "\n"
	const summary = `{"type":"user","isCompactSummary":true,"message":{"content":"This session is being continued"}}` + "\n"
	for _, tt := range []struct {
		name   string
		before []string
		last   string
		lose   func(*port.Abilities)
		want   []i18n.Key // of the buttons
		says   string
	}{
		{"the same again", []string{prompt, refused(400, "bad image (req_1)"), prompt}, refused(400, "bad image (req_2)"), none,
			[]i18n.Key{i18n.ButtonRewind, i18n.ButtonCompact}, "/rewind"},
		{"after the end of the failed turn, which some versions write", []string{prompt, refused(413, "too large"), chattest.TurnEnd, prompt}, refused(413, "too large"), none,
			[]i18n.Key{i18n.ButtonRewind, i18n.ButtonCompact}, "/rewind"},
		{"an agent whose commands are for its terminal", []string{prompt, refused(400, "bad"), prompt}, refused(400, "bad"), inTerminal, []i18n.Key{i18n.ButtonCompact}, "/new"},
		{"after a compaction, which did not help", []string{prompt, refused(413, "too large"), prompt, compacted, summary}, refused(413, "too large"), none,
			[]i18n.Key{i18n.ButtonRewind, i18n.ButtonCompact}, "/rewind"},
		{"the same with other numbers", []string{prompt, refused(413, "too large (28.1 MB of about 33 MB is images), messages.3.content.1"), prompt},
			refused(413, "too large (1,028 MB of about 35 MB is images), messages.12.content.0"), none, []i18n.Key{i18n.ButtonRewind, i18n.ButtonCompact}, "/rewind"},
		{"the same with other ids", []string{prompt, refused(400, "bad, cf-ray: 9a1b-FRA, request id: 1c-d2"), prompt}, refused(400, "bad, cf-ray: 8cc2-AMS, request id: fe-0"), inTerminal,
			[]i18n.Key{i18n.ButtonCompact}, "/new"},
		{"another status", []string{prompt, refused(400, "bad"), prompt}, refused(413, "bad"), none, nil, "Send your message again"},
		{"an agent that cannot compact", []string{prompt, refused(400, "bad"), prompt}, refused(400, "bad"), cannotCompact, nil, "Send your message again"},
		{"the first time", []string{prompt}, refused(400, "bad"), none, nil, "Send your message again"},
		{"another refusal", []string{prompt, refused(400, "bad"), prompt}, refused(400, "worse"), none, nil, "Send your message again"},
		{"an answer in between", []string{prompt, refused(400, "bad"), prompt, chattest.Says("fine"), prompt}, refused(400, "bad"), none, nil, "Send your message again"},
		{"a limit of requests", []string{prompt, refused(429, "slow"), prompt}, refused(429, "slow"), none, nil, "Send your message again"},
		{"a model that is not there", []string{prompt, refused(404, "none"), prompt}, refused(404, "none"), none, nil, "Send your message again"},
		{"a request that took too long", []string{prompt, refused(408, "late"), prompt}, refused(408, "late"), none, nil, "Send your message again"},
	} {
		inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
			w.Machine.Records = lacking{w.Machine.Records, tt.lose}
			w.Restart(t)
			w.writes(tt.before...)
			w.tells(w.newPrompt("go"))
			w.writes(prompt, tt.last)
			w.phase("api_error")
			var offered []i18n.Key
			for _, id := range w.cards() {
				for _, key := range []i18n.Key{i18n.ButtonRewind, i18n.ButtonCompact} {
					if w.Has(w.Shows(t, id), key) {
						offered = append(offered, key)
					}
				}
			}
			assert.Equal(t, tt.want, offered, tt.name)
			failures := slices.DeleteFunc(w.Telegram.AnswersSent(), func(text string) bool { return !strings.Contains(text, "API Error") })
			assert.Contains(t, failures[len(failures)-1], tt.says, tt.name)
		})
	}
}

// A /compact that the session refuses is not typed after a later start.
func TestP4_RefusedCompactIsNotKept(t *testing.T) {
	inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
		w.Lifecycle.OnLook = view.Status{Usage: &port.Usage{Context: 80}}
		w.types("go")
		w.phase("working")
		w.Lifecycle.OnQueue = func(uuid.UUID, string) error { return chattest.ErrDisk }
		w.Press(t, chattest.Alice, 1, w.Word(i18n.ButtonCompact))
		entries, err := w.Inbox.List()
		require.NoError(t, err)
		assert.False(t, slices.ContainsFunc(entries, func(e inbox.Entry) bool { return e.Text == "/compact" }))
	})
}

// The Bot API calls of a turn with many steps: the outbox omits calls beyond the pace, so this is
// the maximum.
func TestCallsOfLongTurn(t *testing.T) {
	calls := make(map[turn.Steps]map[string]int)
	for _, steps := range []turn.Steps{turn.OnCard, turn.Nowhere} {
		inTurns(t, steps, func(t *testing.T, w *turnWorld) {
			w.types("go")
			w.phase("working")
			w.writes(chattest.PromptLine("go"))
			for i := range 40 {
				w.writes(bash(fmt.Sprint(i), "one"), toolResult(fmt.Sprint(i), false))
			}
			w.writes(chattest.Says("done"), chattest.TurnEnd)
			w.phase("idle")
			count := make(map[string]int)
			for _, line := range w.Telegram.Done() {
				what, _, _ := strings.Cut(line, " ")
				count[what]++
			}
			calls[steps] = count
		})
		t.Logf("SHOW_STEPS=%s, a turn of 40 steps before the pace of cards: %v", steps, calls[steps])
	}
	assert.Less(t, calls[turn.OnCard]["typing"], calls[turn.Nowhere]["typing"], "a card says that the agent works")
	assert.Equal(t, 2, calls[turn.OnCard]["send"], "the card and the answer")
}
