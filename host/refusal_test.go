package host

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/agent/claude"
	"ccbot/agent/claude/transcript"
	"ccbot/agent/jsonl"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/typing"
	"ccbot/port"
	"ccbot/port/refusal"
	"ccbot/port/talk"
	"ccbot/tmux"
)

func TestRefusals(t *testing.T) {
	deep := func(err error) error { return fmt.Errorf("launch: %w", errors.Join(err, errors.New("and more"))) }
	disk := errors.New("disk")
	for _, tt := range []struct {
		name string
		err  error
		want refusal.Error
	}{
		{"no session", session.ErrNotFound, refusal.Error{Code: refusal.NotFound}},
		{"a missing file is no missing session", fs.ErrNotExist, refusal.Error{}},
		{"no pane", tmux.ErrNoPane, refusal.Error{Code: refusal.NoAgent}},
		{"a guard that found no pane", &tmux.GuardError{}, refusal.Error{Code: refusal.NoAgent}},
		{"a guard", &tmux.GuardError{Want: "a", Got: "b"}, refusal.Error{Code: refusal.Guarded}},
		{"no claude", claude.ErrNotInstalled, refusal.Error{Code: refusal.NotInstalled, Command: "claude", Agent: "Claude Code", Setting: "CLAUDE_COMMAND"}},
		{"a prompt that is typed", typing.ErrNoPrompt, refusal.Error{Code: refusal.NotFound}},
		{"a folder", &lifecycle.DirError{Dir: "/x", Why: lifecycle.DirMissing}, refusal.Error{Code: refusal.DirMissing, Dir: "/x", Reason: "missing"}},
		{"a fault of a later day", &lifecycle.DirError{Dir: "/x", Why: "on fire"}, refusal.Error{Code: refusal.DirNoAccess, Dir: "/x", Reason: "on fire"}},
		{"a state", &lifecycle.StateError{State: session.Running}, refusal.Error{Code: refusal.WrongState, State: port.StateRunning, Open: true}},
		{"a state that ends", &lifecycle.StateError{State: session.Stopping}, refusal.Error{Code: refusal.WrongState, State: port.StateStopping}},
		{"damaged", &lifecycle.TranscriptError{Nothing: true, Health: agent.Health{Faults: []agent.Fault{transcript.FaultNUL}}},
			refusal.Error{Code: refusal.NothingLeft, Faults: []string{string(transcript.FaultNUL)}}},
		{"anything else", disk, refusal.Error{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := Sessions{}.Refused(deep(tt.err))
			require.ErrorIs(t, err, tt.err)
			got := *refusal.In(err)
			got.Err = nil
			assert.Equal(t, tt.want, got)
		})
	}
	assert.NoError(t, Sessions{}.Refused(nil))
}

var agents = agent.Agents{agent.Default: claude.New("", agent.Launch{}, nil)}

// The chat's states, items and processes are those of the machine.
func TestPortValuesMatchEngineValues(t *testing.T) {
	for _, s := range session.States() {
		assert.Equal(t, s, session.State(View(agents, session.Record{State: s}).State))
	}
	for port, kind := range map[talk.Kind]talk.Kind{talk.Text: jsonl.Text, talk.Thinking: jsonl.Thinking,
		talk.ToolUse: jsonl.ToolUse, talk.ToolResult: jsonl.ToolResult, talk.Interrupt: jsonl.Interrupt,
		talk.APIError: jsonl.APIError, talk.TurnEnd: jsonl.TurnEnd, talk.LocalOutput: jsonl.LocalOutput,
		talk.PermissionDecision: jsonl.PermissionDecision, talk.UserPrompt: jsonl.UserPrompt,
		talk.LocalCommand: jsonl.LocalCommand} {
		assert.Equal(t, port, itemOf(jsonl.Item{Kind: kind}).Kind)
	}
	for kind, ends := range map[talk.Kind]talk.Ending{jsonl.TurnEnd: talk.EndedTurn, jsonl.Interrupt: talk.StoppedTurn,
		jsonl.APIError: talk.FailedTurn, jsonl.LocalOutput: "", jsonl.Text: ""} {
		assert.Equal(t, ends, itemOf(jsonl.Item{Kind: kind}).Ends, kind)
		assert.Empty(t, itemOf(jsonl.Item{Kind: kind, Sidechain: true}).Ends, kind)
	}
	p := process.Identity{PID: 7, Start: 1 << 60, Boot: "a-b.c"}
	assert.Equal(t, p, process.ParseIdentity(p.Text()))
	for _, text := range []string{"", "7", "7.1", "x.1.b", "7.1.b c", "-1.2.b", "07.1.b"} {
		assert.False(t, process.ParseIdentity(text).Valid(), text)
	}
}
