package running

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	claudecode "ccbot/agent/claude"
	"ccbot/cmd/ccbot/engine"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/socket"
	"ccbot/host"
	"ccbot/internal/control"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/evidence"
)

// TestResumeExplainsRefusal: in the chat's sentences, and with the chat if there is a choice.
func TestResumeExplainsRefusal(t *testing.T) {
	d, err := offline.Open([]string{"HOME=/", "CCBOT_DIR=" + stateWith(t, one(1, "api"))}, io.Discard)
	require.NoError(t, err)
	state := func(s session.State) error { return &lifecycle.StateError{State: s, Want: "resumed"} }
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"open", state(session.Running), "api is already open. In a terminal: ccbot attach api"},
		{"being ended", state(session.Stopping), "api is still ending. Try again in a moment."},
		{"not clean", state(session.CleanupFailed), "api has not fully ended"},
		{"no folder", &lifecycle.DirError{Dir: "/src/api", Why: lifecycle.DirMissing},
			"choose another folder for api: /resume api PATH\nChoose in the chat: /resume api"},
		{"a writer", &lifecycle.WriterError{Writers: []evidence.Writer{{Process: process.Process{Identity: process.Identity{PID: 7}}, Proven: true}}}, "7"},
		{"damaged", &lifecycle.TranscriptError{Health: agent.Health{Path: "/t.jsonl"}}, "\nChoose in the chat: /resume api"},
		{"nothing left", &lifecycle.TranscriptError{Nothing: true}, "\nChoose in the chat: /resume api"},
		{"deleted", &lifecycle.TranscriptError{Nothing: true, Deleted: true}, "cleanupPeriodDays"},
		{"no claude", claudecode.ErrNotInstalled, "Install Claude Code, or set CLAUDE_COMMAND to its path"},
		{"nobody knows", evidence.ErrUnreadable, "ccbot cannot see which conversations are open"},
		{"forgotten", session.ErrNotFound, "There is no session api. ccbot list shows the open ones"},
		{"anything else", errors.New("x"), "x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := notResumed(d.Words(), host.View(offline.Agents(d.Config), one(1, "api")), host.Terminals{Records: d.Store}.Refused(tt.err))
			assert.ErrorContains(t, err, tt.want)
		})
	}
}

// TestP9_ChangesComeFromPeople: no verb that changes something is done below an agent, nor what
// cannot be read.
func TestP9_ChangesComeFromPeople(t *testing.T) {
	person := control.Peer{Chain: []process.Process{{Identity: process.Identity{PID: 9}, TTY: 34816, SID: 9},
		{Identity: process.Identity{PID: 1}}}, Whole: true}
	code := func(err error) string {
		refusal := (*control.Refusal)(nil)
		require.ErrorAs(t, err, &refusal)
		return refusal.Code
	}
	for verb, handle := range (&system{Engine: &engine.Engine{}}).changes() {
		t.Run(verb, func(t *testing.T) {
			require.NoError(t, socket.Permitted(verb, person, evidence.Above{}))
			for name, above := range map[string]evidence.Above{"a session's agent": {Found: true, Session: uuid.New()}, "an agent of nobody's": {Found: true}} {
				assert.Equal(t, control.CodeForbidden, code(socket.Permitted(verb, person, above)), name)
			}
			for _, body := range []string{``, `[]`, `{}`} {
				if slices.Contains([]string{Recovering.Verb, figures.Verb, ListingHosts.Verb}, verb) && body == `{}` {
					continue
				}
				_, err := handle(t.Context(), json.RawMessage(body))
				assert.Equal(t, control.CodeMalformed, code(err), "%q", body)
			}
		})
	}
}

// TestVerbMakesChange: the socket passes on the request and the result.
func TestVerbMakesChange(t *testing.T) {
	for name, want := range map[string]error{"it is made": nil, "it is refused": control.Refuse(control.CodeRefused, "no"), "it fails": errors.New("disk")} {
		t.Run(name, func(t *testing.T) {
			one := Change[Resume, Resumed]{Verb: "one", do: func(_ context.Context, _ *system, body Resume) (Resumed, error) {
				return Resumed{ID: body.Session, Dir: "/src", Attach: "tmux attach"}, want
			}}
			did, err := one.by(&system{Engine: &engine.Engine{}})(t.Context(), json.RawMessage(`{"session":"`+idOf(1).String()+`"}`))
			require.Equal(t, want, err)
			if err == nil {
				assert.Equal(t, Resumed{ID: idOf(1), Dir: "/src", Attach: "tmux attach"}, did)
			}
		})
	}
}
