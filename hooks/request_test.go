package hooks

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/claudeask"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	"ccbot/port/talk"
)

func TestNewRequest(t *testing.T) {
	good := hookwire.Ask{
		Received: time.Date(2026, 11, 20, 13, 0, 0, 0, time.FixedZone("", 3600)), SessionID: "19700a32-a03e-4de9-a340-67e13a1f5792",
		TranscriptPath: "/p/t.jsonl", TranscriptSize: 7, Cwd: "/home/u", PermissionMode: "default", Tool: "Bash",
		Input: json.RawMessage(`{"command":"ls"}`), AgentID: "a1", AgentType: "general-purpose", AgentPID: 4711,
	}
	session := uuid.MustParse("0190a000-0000-7000-8000-000000000001")
	agent, hook := process.Identity{PID: 10, Start: 1, Boot: "b"}, process.Identity{PID: 11, Start: 2, Boot: "b"}
	id := strings.Repeat("aZ0_-x", 4)[:22]

	q, err := NewRequest(claudeask.Asks{}, id, session, agent, hook, good)
	require.NoError(t, err)
	assert.Equal(t, talk.TitleCommand, q.Ask.Title)
	q.Ask = talk.Ask{}
	assert.Equal(t, Request{
		ID: id, Session: session, Agent: agent.Text(), Hook: hook.Text(),
		Transcript: "/p/t.jsonl", Offset: 7, Cwd: "/home/u", Mode: "default", Tool: "Bash", Input: good.Input,
		SubagentID: "a1", Subagent: "general-purpose", RequestedAt: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
	}, q)

	tests := []struct {
		name   string
		id     string
		change func(a *hookwire.Ask, agent, hook *process.Identity, session *uuid.UUID)
	}{
		{"an id that is a path", "../../../../etc/passwd", nil},
		{"a short id", "abc", nil},
		{"an id with a separator of buttons", strings.Repeat("a", 20) + ":b", nil},
		{"no session", id, func(_ *hookwire.Ask, _, _ *process.Identity, s *uuid.UUID) { *s = uuid.Nil }},
		{"no agent", id, func(_ *hookwire.Ask, a, _ *process.Identity, _ *uuid.UUID) { a.Start = 0 }},
		{"no hook", id, func(_ *hookwire.Ask, _, h *process.Identity, _ *uuid.UUID) { *h = process.Identity{} }},
		{"no session of Claude's", id, func(a *hookwire.Ask, _, _ *process.Identity, _ *uuid.UUID) { a.SessionID = "x" }},
		{"no tool", id, func(a *hookwire.Ask, _, _ *process.Identity, _ *uuid.UUID) { a.Tool = "" }},
		{"a book for a tool", id, func(a *hookwire.Ask, _, _ *process.Identity, _ *uuid.UUID) { a.Tool = strings.Repeat("x", 300) }},
		{"no time", id, func(a *hookwire.Ask, _, _ *process.Identity, _ *uuid.UUID) { a.Received = time.Time{} }},
		{"no input", id, func(a *hookwire.Ask, _, _ *process.Identity, _ *uuid.UUID) { a.Input = nil }},
		{"null", id, func(a *hookwire.Ask, _, _ *process.Identity, _ *uuid.UUID) { a.Input = json.RawMessage("null") }},
		{"a list", id, func(a *hookwire.Ask, _, _ *process.Identity, _ *uuid.UUID) { a.Input = json.RawMessage("[]") }},
		{"no JSON", id, func(a *hookwire.Ask, _, _ *process.Identity, _ *uuid.UUID) { a.Input = json.RawMessage(`{"a":1}}`) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, agent, hook, session := good, agent, hook, session
			if tt.change != nil {
				tt.change(&a, &agent, &hook, &session)
			}
			_, err := NewRequest(claudeask.Asks{}, tt.id, session, agent, hook, a)
			assert.ErrorIs(t, err, talk.ErrBadRequest)
		})
	}
}
