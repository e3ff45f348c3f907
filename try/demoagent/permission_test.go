package demoagent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/claudeui"
	reader "ccbot/agent/claude/transcript"
	"ccbot/internal/waittest"
	"ccbot/port/talk"
	"ccbot/try/demoagent/script"
)

func decide(d string) string {
	return `printf '%s' '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":` + d + `}}'`
}

// outcome returns the outcome of the newest request, by the reader of real transcripts.
func (s *stage) outcome(id uuid.UUID) (talk.RequestOutcome, bool) {
	s.t.Helper()
	_, payloads := s.events()
	for i := len(payloads) - 1; i >= 0; i-- {
		p := payloads[i]
		if p["hook_event_name"] != "PermissionRequest" {
			continue
		}
		input, err := json.Marshal(p["tool_input"])
		require.NoError(s.t, err)
		path := transcriptPath(s.config, s.cwd, id)
		agent, _ := p["agent_id"].(string)
		own := path
		if agent != "" {
			own = filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents", "agent-"+agent+".jsonl")
		}
		o, found, err := reader.FindOutcome(s.t.Context(), reader.Sought{Path: path, Subagent: agent, Tool: p["tool_name"].(string), Input: input, At: s.called(own)})
		require.NoError(s.t, err)
		return o, found
	}
	return talk.RequestOutcome{}, false
}

// called returns when the newest tool call of a transcript was written.
func (s *stage) called(path string) (at time.Time) {
	s.t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(s.t, err)
	for l := range strings.Lines(string(data)) {
		if strings.Contains(l, `"type":"tool_use"`) {
			var line struct{ Timestamp time.Time }
			require.NoError(s.t, json.Unmarshal([]byte(l), &line))
			at = line.Timestamp
		}
	}
	return at
}

// waitDone waits until the newest request has a result.
func (s *stage) waitDone(id uuid.UUID) (o talk.RequestOutcome) {
	s.t.Helper()
	waittest.Until(s.t, func() bool {
		o, _ = s.outcome(id)
		return o.Done
	})
	o.ToolID = ""
	return o
}

func TestTranscriptOfPermission(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, hook, prompt string
		keys               []string
		want               talk.RequestOutcome
	}{
		{"allowed by the hook", decide(`{"behavior":"allow"}`), "bash echo x", nil,
			talk.RequestOutcome{ByHook: "allow", Done: true, Text: "x"}},
		{"denied by the hook", decide(`{"behavior":"deny","message":"not now"}`), "bash echo x", nil,
			talk.RequestOutcome{ByHook: "deny", Done: true, Denial: "permission-rule", Text: "not now"}},
		{"allowed at the desk", "exit 0", "edit notes.md", []string{"Enter"},
			talk.RequestOutcome{Done: true, Text: "The file notes.md has been updated successfully."}},
		{"refused at the desk", "exit 0", "write notes.md", []string{"3"},
			talk.RequestOutcome{Done: true, Denial: "user-rejected", Interrupted: true}},
		{"questions left without an answer", decide(`{"behavior":"allow","updatedInput":{"answers":{}}}`), "ask", nil,
			talk.RequestOutcome{ByHook: "allow", Done: true, Text: "The user did not answer the questions."}},
		{"answers as a list", decide(`{"behavior":"allow","updatedInput":{"answers":{"Which features?":["Logs","Traces"]}}}`), "ask multi", nil,
			talk.RequestOutcome{ByHook: "allow", Done: true, Text: `Your questions have been answered: "Which features?"="Logs, Traces". You can now continue with these answers in mind.`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t)
			s.settings(tt.hook)
			w, p := s.idle()
			w.Submit(tt.prompt)
			if tt.keys != nil {
				w.WaitFor("notes.md?", "❯ 1. Yes", "3. No")
				// a No ends the hook, which may not have noted its payload yet
				waittest.Until(t, func() bool {
					names, _ := s.events()
					return strings.HasPrefix(names[len(names)-1], "PermissionRequest")
				})
				w.Press(tt.keys...)
			}
			got := s.waitDone(p.SessionID)
			if tt.want.Denial == "user-rejected" {
				got.Text = ""
				waittest.Until(t, func() bool { o, _ := s.outcome(p.SessionID); return o.Interrupted })
				got.Interrupted = true
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestDecisionIsWrittenWithResult(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.settings(decide(`{"behavior":"allow"}`))
	w, p := s.idle()
	w.Submit("bash sleep 3600")
	w.WaitFor("Allowed by PermissionRequest hook")
	s.waitStatus(w, "busy")
	o, found := s.outcome(p.SessionID)
	require.True(t, found)
	assert.Equal(t, talk.RequestOutcome{ToolID: o.ToolID}, o, "nothing tells yet that it was allowed")
	w.Press("Escape")
	s.waitStatus(w, "idle")
	assert.Empty(t, s.waitDone(p.SessionID).ByHook, "an interrupt hides the decision")
}

func TestEndOfHook(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, key string
		ended     bool
	}{
		{"Esc does", "Escape", true},
		{"No does", "4", true},
		{"Yes does not", "1", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t)
			dir := t.TempDir()
			// The shell of the hook and its child both get the signal.
			s.settings(`trap 'echo TERM > ` + dir + `/sh; exit' TERM; sleep 86400 & echo $! > ` + dir + `/child; wait`)
			w, _ := s.idle()
			w.Submit("bash x")
			w.WaitFor("4. No")
			var child int
			waittest.Until(t, func() bool {
				data, err := os.ReadFile(filepath.Join(dir, "child"))
				child, _ = strconv.Atoi(strings.TrimSpace(string(data)))
				return err == nil && child > 0
			})
			w.Press(tt.key)
			s.waitStatus(w, "idle")
			alive := func() bool { return syscall.Kill(child, 0) == nil && !zombie(child) }
			if !tt.ended {
				assert.True(t, alive())
				require.NoError(t, syscall.Kill(w.PID(), syscall.SIGTERM))
			}
			waittest.Until(t, func() bool { return !alive() })
			waittest.Until(t, func() bool {
				_, err := os.Stat(filepath.Join(dir, "sh"))
				return err == nil
			})
		})
	}
}

func zombie(pid int) bool {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && strings.Contains(string(data), ") Z ")
}

func TestForThisSession(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.settings(decide(`{"behavior":"allow","updatedPermissions":[{"type":"addRules","behavior":"allow","destination":"session","rules":[{"toolName":"Bash","ruleContent":"make test"}]}]}`))
	w, p := s.idle()
	asked := func() int {
		names, _ := s.events()
		return strings.Count(strings.Join(names, "\n"), "PermissionRequest/Bash")
	}
	turn := func(prompt, says string) {
		w.Submit(prompt)
		w.WaitFor("● I pretended to run it", says)
		s.waitStatus(w, "idle")
	}
	turn("bash make test", "$ make test")
	assert.Equal(t, 1, asked())
	suggested, err := json.Marshal(s.waitEvent("PermissionRequest/Bash")["permission_suggestions"])
	require.NoError(t, err)
	assert.JSONEq(t, `[{"type":"addRules","behavior":"allow","destination":"localSettings","rules":[{"toolName":"Bash","ruleContent":"make test"}]}]`, string(suggested))
	w.Submit("say between")
	w.WaitFor("● between")
	turn("bash make test", "● between")
	assert.Equal(t, 1, asked(), "the second same command asks nothing")
	turn("bash make lint", "$ make lint")
	assert.Equal(t, 2, asked())
	_, err = os.Stat(filepath.Join(s.cwd, ".claude"))
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.Contains(t, s.shape(p.SessionID), "attachment")
}

func TestRules(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		mode       string
		rule       rule
		call       script.Call
		want, seen bool
	}{
		{"exact", "default", rule{"Bash", "a b"}, script.Call{Name: "Bash", Command: "a b"}, true, false},
		{"another command", "default", rule{"Bash", "a b"}, script.Call{Name: "Bash", Command: "a b c"}, false, false},
		{"beginning", "default", rule{"Bash", "a:*"}, script.Call{Name: "Bash", Command: "a b"}, true, false},
		{"not in a word", "default", rule{"Bash", "a *"}, script.Call{Name: "Bash", Command: "ab"}, false, false},
		{"another tool", "default", rule{"Edit", ""}, script.Call{Name: "Bash", Command: "x"}, false, false},
		{"edits accepted", "acceptEdits", rule{}, script.Call{Name: "Edit", Path: "x"}, true, false},
		{"a command that edits", "acceptEdits", rule{}, script.Call{Name: "Bash", Command: "mkdir x"}, true, false},
		{"a command that does not", "acceptEdits", rule{}, script.Call{Name: "Bash", Command: "make"}, false, false},
		{"questions are always asked", "bypassPermissions", rule{}, script.Call{Name: "AskUserQuestion"}, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := &agent{start: &start{mode: tt.mode}, rules: []rule{tt.rule}}
			assert.Equal(t, tt.want, a.allowed(tt.call))
		})
	}
}

func TestPlanModes(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, decision, footer string }{
		{"the mode before", `{"behavior":"allow","updatedInput":{"plan":"x"}}`, "accept edits on"},
		{"asking for each", `{"behavior":"allow","updatedInput":{"plan":"x"},"updatedPermissions":[{"type":"setMode","mode":"default","destination":"session"}]}`, "manual mode on"},
		{"denied", `{"behavior":"deny","message":"shorter"}`, "plan mode on"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t)
			s.settings(decide(tt.decision))
			w, p := s.idle("--permission-mode", "acceptEdits")
			w.Submit("plan")
			assert.Equal(t, "plan", s.waitEvent("PermissionRequest/ExitPlanMode")["permission_mode"])
			s.waitEvent("Stop")
			w.WaitFor(tt.footer)
			if tt.name != "denied" {
				assert.True(t, strings.HasSuffix(s.waitDone(p.SessionID).Text, "## Approved Plan:\nx"))
			}
		})
	}
}

func TestBackgroundAgent(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	answer := filepath.Join(s.dir, "answer")
	s.settings(`while [ ! -e ` + answer + ` ]; do sleep 0.05; done; cat ` + answer)
	w, p := s.idle()
	w.Submit("agent make lint")
	asked := s.waitEvent("PermissionRequest/Bash")
	assert.Equal(t, "general-purpose", asked["agent_type"])
	stop := s.waitEvent("Stop")
	assert.Len(t, stop["background_tasks"], 1)
	w.WaitFor("✻ Waiting for 1 background agent to finish")
	s.waitStatus(w, "busy")
	read := claudeui.Read(w.Colours())
	assert.True(t, read.Box.Present && read.Box.Empty && read.Dialog == nil, "while its hook runs there is no dialog: %+v", read)

	require.NoError(t, os.WriteFile(answer+".new", []byte(`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`), 0o600))
	require.NoError(t, os.Rename(answer+".new", answer))
	assert.Equal(t, talk.RequestOutcome{ByHook: "allow", Done: true, Text: "(pretended: make lint)"}, s.waitDone(p.SessionID))
	w.WaitFor("● The background agent is done: completed.")
	s.waitStatus(w, "idle")
	shape := s.shape(p.SessionID)
	assert.Contains(t, shape, "user <task-notification>")
	assert.NotContains(t, shape, "(pretended: make lint)", "its lines stand in its own file")

	require.NoError(t, os.WriteFile(answer, nil, 0o600))
	w.Submit("agent make deploy")
	w.WaitFor("from the general-purpose agent", "make deploy", "4. No")
	s.waitStatus(w, "waiting")
	w.Press("Escape")
	w.WaitFor("● The background agent is done: stopped by the user.")
	s.waitStatus(w, "idle")
	o := s.waitDone(p.SessionID)
	assert.True(t, o.Interrupted)
	assert.Equal(t, "user-rejected", o.Denial)
}

func TestDialogsComeInOrder(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	w, _ := s.idle()
	w.Type("agent make lint\rask one\r") // at once: an Enter after the first dialog would answer it
	var allowed, chosen bool
	waittest.Until(t, func() bool { // a busy machine shows them the other way round
		switch screen := w.Screen(); {
		case !allowed && strings.Contains(screen, "from the general-purpose agent"):
			w.Press("1")
			allowed = true
		case !chosen && strings.Contains(screen, "Enter to select"):
			w.Press("2")
			chosen = true
		}
		return allowed && chosen && strings.Contains(w.Screen(), `"Which colour?"="Blue"`)
	})
	s.waitStatus(w, "idle")
}

func TestStatusLine(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	log := filepath.Join(s.dir, "status.log")
	settings := filepath.Join(s.dir, "settings.json")
	calls := func() (all []string) {
		data, _ := os.ReadFile(log) // none yet
		return strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' })
	}
	run := func(out string) {
		had := len(calls())
		data, err := json.Marshal(map[string]any{"statusLine": map[string]string{"type": "command", "command": `printf '%s\n' "$(cat)" >> ` + log + "; " + out}})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(settings, data, 0o600))
		w, _ := s.idle()
		w.WaitFor("⏸ manual mode on")
		waittest.Until(t, func() bool { return len(calls()) > had }, "the call at the start")
		w.Submit("say hi")
		w.WaitFor("● hi")
		s.waitStatus(w, "idle")
		if strings.HasPrefix(out, "printf") {
			w.WaitFor("─\n  CONTEXT 5%\n  second row\n  ⏸ manual mode on")
		} else {
			w.WaitFor("─\n\n  ⏸ manual mode on")
		}
		assert.NotContains(t, w.Screen(), "? for shortcuts")
		read := claudeui.Read(w.Colours())
		assert.True(t, read.Box.Present && read.Box.Empty && read.Dialog == nil, "%+v", read)
	}
	run(`printf 'CONTEXT 5%%\nsecond row\n'`)
	run(`:`)

	type call struct {
		Context struct {
			Used *float64 `json:"used_percentage"`
		} `json:"context_window"`
		Cost struct {
			USD float64 `json:"total_cost_usd"`
		} `json:"cost"`
	}
	var early, late call
	require.NoError(t, json.Unmarshal([]byte(calls()[0]), &early))
	assert.Nil(t, early.Context.Used, "nothing is known at the start")
	waittest.Until(t, func() bool {
		return slices.ContainsFunc(calls(), func(text string) bool {
			late = call{}
			return json.Unmarshal([]byte(text), &late) == nil && late.Context.Used != nil // the last line may be half-written
		})
	}, "a call after the answer knows the context")
	assert.Positive(t, late.Cost.USD)
}
