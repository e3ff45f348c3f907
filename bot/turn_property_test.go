package bot_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/bot/turn"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// simulated is one turn as the agent has written it.
type simulated struct {
	key           string // of its prompt; empty: typed in the terminal
	steps, failed int
	open          []string // calls without a result
	ended         bool
}

// simulation is an agent, and the person who makes trouble.
type simulation struct {
	*turnWorld
	turns   []*simulated
	typed   news.Typed
	deleted int // messages
	other   uuid.UUID
	calls   int
	starts  int // each may repeat an edit whose result was unknown
}

func (s *simulation) now() *simulated {
	if n := len(s.turns); n > 0 && !s.turns[n-1].ended {
		return s.turns[n-1]
	}
	return nil
}

func (s *simulation) ends(line string) {
	if now := s.now(); now != nil {
		now.ended = true
		s.writes(line)
		s.phase("idle")
	}
}

func (s *simulation) begins(key string) {
	s.turns = append(s.turns, &simulated{key: key})
	s.phase("working")
	s.writes(chattest.PromptLine("go"))
}

func (s *simulation) does(what string) {
	now := s.now()
	switch what {
	case "type":
		s.ends(chattest.TurnEnd)
		s.typed = s.types("go")
		s.begins(s.typed.Prompt.Key)
	case "type, and the transcript is quicker":
		s.ends(chattest.TurnEnd)
		s.typed = s.newPrompt("go")
		s.begins(s.typed.Prompt.Key)
		s.tells(s.typed)
	case "desk":
		s.ends(chattest.TurnEnd)
		s.begins("")
	case "tell again":
		if s.typed.Prompt.Key != "" {
			s.tells(s.typed)
		}
	case "items again":
		items, err := s.Talk.Transcripts.Next(s.t.Context(), s.r.ID, talk.Cursor{Path: s.c.Path}, 1000, false)
		if len(items) == 0 && err != nil {
			return
		}
		for _, item := range items {
			for _, f := range s.Installed {
				if f.Name == "turn" {
					f.OnItem(s.r.ID, item)
				}
			}
		}
		s.Work(s.t)
	case "call":
		if now != nil {
			s.calls++
			id := fmt.Sprint("c", s.calls)
			now.steps++
			now.open = append(now.open, id)
			s.writes(bash(id, "command "+id))
		}
	case "result", "failure":
		if now != nil && len(now.open) > 0 {
			if what == "failure" {
				now.failed++
			}
			s.writes(toolResult(now.open[0], what == "failure"))
			now.open = now.open[1:]
		}
	case "asks":
		if now != nil {
			s.phase("waiting_permission")
			s.phase("working")
		}
	case "end":
		s.ends(chattest.TurnEnd)
	case "interrupt":
		s.ends(chattest.Interrupt)
	case "restart":
		s.starts++
		s.Restart(s.t)
	case "restart in the middle of an end":
		if now != nil {
			s.starts++
			s.Stops(s.t)
			s.ends(chattest.TurnEnd)
			s.Restart(s.t)
		}
	case "delete":
		gone := true
		s.Telegram.OnEdit = func(outbox.Message) error {
			if gone {
				gone = false
				s.deleted++
				return &outbox.Refused{Err: outbox.ErrGone}
			}
			return nil
		}
	case "posts wait":
		s.Telegram.OnSend = func(context.Context, outbox.Message) error { return outbox.ErrUnsure }
	case "posts go":
		s.Telegram.OnSend = nil
		s.Work(s.t)
	case "block":
		s.Telegram.Mu.Lock()
		s.Telegram.OnParked = map[int64]bool{chattest.Alice: true}
		s.Telegram.Mu.Unlock()
	case "unblock":
		s.MustHear(s.t, "/status nobody")
		s.Work(s.t)
	case "beside":
		require.NoError(s.t, s.MakeCurrent(s.t.Context(), chattest.AtAlice, 0, s.other))
		s.Work(s.t)
	case "in front":
		require.NoError(s.t, s.MakeCurrent(s.t.Context(), chattest.AtAlice, 0, s.r.ID))
		s.Work(s.t)
	case "details":
		for _, id := range s.cards() {
			if m := s.Shows(s.t, id); s.Has(m, i18n.ButtonDetails) {
				s.Press(s.t, chattest.Bob, id, s.Word(i18n.ButtonDetails))
				return
			}
		}
	}
}

// kept are the cards of turns on disk.
func (s *simulation) kept() (all []keptTurn) {
	files, err := filepath.Glob(filepath.Join(s.Dir, "cards", "*.json"))
	require.NoError(s.t, err)
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(s.t, err)
		var c struct {
			Kind    string
			Closed  bool
			Payload json.RawMessage
		}
		require.NoError(s.t, json.Unmarshal(data, &c))
		if c.Kind == "turn" {
			var k keptTurn
			require.NoError(s.t, json.Unmarshal(c.Payload, &k))
			all = append(all, k)
		}
	}
	return all
}

type keptTurn struct {
	Prompt, End   string
	Count, Failed int
}

// wrong returns the violated invariants.
func (s *simulation) wrong() string {
	if n := len(s.cards()); n > len(s.turns)+s.deleted {
		return fmt.Sprintf("%d cards of %d turns, of which %d were deleted", n, len(s.turns), s.deleted)
	}
	prompts := make(map[string]bool)
	for _, k := range s.kept() {
		if k.Prompt != "" && prompts[k.Prompt] {
			return "two cards of one prompt"
		}
		prompts[k.Prompt] = true
	}
	for _, id := range s.cards() {
		if s.deleted > 0 {
			break // a refused edit is repeated
		}
		last, again := "", 0
		for _, m := range s.versionsOf(id) {
			data, _ := json.Marshal([]any{m.Text, m.Buttons})
			if string(data) == last {
				again++
			}
			if again > s.starts {
				return "an edit without a change: " + m.Text.Text
			}
			last = string(data)
		}
	}
	return ""
}

func (s *simulation) versionsOf(id int) (all []outbox.Message) {
	all = append(all, s.Telegram.Sent[id-1])
	for _, m := range s.Telegram.Edited {
		if m.ReplyTo == id {
			all = append(all, m)
		}
	}
	return all
}

// untrue returns the differences of cards and transcript after the end of all turns.
func (s *simulation) untrue() string {
	for _, k := range s.kept() {
		if k.End == "" {
			return "a card runs on"
		}
		for _, one := range s.turns {
			if one.key != "" && one.key == k.Prompt && (one.steps != k.Count || one.failed != k.Failed) {
				return fmt.Sprintf("%+v is shown as %+v", *one, k)
			}
		}
	}
	return ""
}

// For any events in any order: one card per turn, none before its prompt, no edit without a change,
// and at the end each card matches the transcript.
func TestTurnsInAnyOrder(t *testing.T) {
	t.Parallel()
	moves := []string{"type", "type, and the transcript is quicker", "desk", "tell again", "items again", "call", "call", "call", "result",
		"result", "failure", "asks", "end", "interrupt", "restart", "restart in the middle of an end", "delete", "posts wait", "posts go",
		"block", "unblock", "beside", "in front", "details"}
	rapid.Check(t, func(rt *rapid.T) {
		script := rapid.SliceOfN(rapid.SampledFrom(moves), 5, 30).Draw(rt, "moves")
		wrong := wrongIn(t, script)
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// Repeated news of a prompt, after its turn ended while nothing ran, do not belong to the following
// turn from the terminal.
func TestRepeatedNewsTakesNoLaterTurn(t *testing.T) {
	require.Empty(t, wrongIn(t, []string{"beside", "type", "restart in the middle of an end", "desk", "call", "tell again"}))
}

// wrongIn returns the violations after each of some moves, or at the end.
func wrongIn(t *testing.T, script []string) (wrong string) {
	inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
		s := &simulation{turnWorld: w, other: w.Session(t, "other", session.Running).ID}
		w.Session(t, "third", session.Running)
		for i, what := range script {
			s.does(what)
			if wrong = s.wrong(); wrong != "" {
				wrong = fmt.Sprintf("after %s: %s", strings.Join(script[:i+1], ", "), wrong)
				return
			}
		}
		for _, what := range []string{"unblock", "posts go", "in front", "end", "restart"} {
			s.does(what)
		}
		if wrong = s.wrong() + s.untrue(); wrong != "" {
			wrong = fmt.Sprintf("in the end of %s: %s", strings.Join(script, ", "), wrong)
		}
	})
	return wrong
}
