package demoagent

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"ccbot/internal/waittest"
	"ccbot/try/demoagent/agenttest"
	"ccbot/try/demoagent/brain"
)

func TestMain(m *testing.M) {
	if Called(os.Args[0]) {
		os.Exit(Main(os.Args[1:], os.Environ(), os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// stage is a home with settings whose hooks log every payload.
type stage struct {
	t       *testing.T
	dir     string
	config  string
	cwd     string
	hookLog string
	log     string
	link    string
	env     []string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	s := &stage{t: t, dir: dir, config: filepath.Join(dir, "cfg"), cwd: filepath.Join(dir, "we ird_ü.x"),
		hookLog: filepath.Join(dir, "hooks.log"), log: filepath.Join(dir, "log")}
	require.NoError(t, os.MkdirAll(s.cwd, 0o700))
	s.link, err = Link(dir)
	require.NoError(t, err)
	s.settings("exit 0")
	s.env = []string{"HOME=" + dir, "CLAUDE_CONFIG_DIR=" + s.config, "PATH=" + os.Getenv("PATH"),
		"TERM=tmux-256color", "LANG=C.UTF-8", "DEMOAGENT_LOG=" + s.log,
		// the race detector waits for a second at the end of each program
		"GORACE=atexit_sleep_ms=0"}
	return s
}

// settings writes hooks that log all events; permission is the shell line of PermissionRequest.
func (s *stage) settings(permission string) {
	script := filepath.Join(s.dir, "hook.sh")
	body := fmt.Sprintf("#!/bin/sh\np=$(cat)\nprintf '%%s\\t%%s\\n' \"$CLAUDE_PID\" \"$p\" >> '%s'\n", s.hookLog)
	require.NoError(s.t, os.WriteFile(script, []byte(body), 0o700))
	asked := filepath.Join(s.dir, "permission.sh")
	require.NoError(s.t, os.WriteFile(asked, []byte(body+permission+"\n"), 0o700))
	hooks := map[string]any{}
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "Stop", "StopFailure", "SessionEnd"} {
		hooks[event] = []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": "'" + script + "'"}}}}
	}
	hooks["PermissionRequest"] = []any{map[string]any{"matcher": "*", "hooks": []any{map[string]any{"type": "command", "command": "'" + asked + "'", "timeout": 60}}}}
	data, err := json.Marshal(map[string]any{"hooks": hooks, "permissions": map[string]any{"defaultMode": "default"}})
	require.NoError(s.t, err)
	require.NoError(s.t, os.WriteFile(filepath.Join(s.dir, "settings.json"), data, 0o600))
}

func (s *stage) start(args ...string) *agenttest.Terminal {
	s.t.Helper()
	argv := append([]string{s.link, "--settings", filepath.Join(s.dir, "settings.json")}, args...)
	return agenttest.Start(s.t, agenttest.Spec{Argv: argv, Env: s.env, Dir: s.cwd})
}

// idle starts a session and waits until it is ready for a prompt.
func (s *stage) idle(args ...string) (*agenttest.Terminal, presence) {
	s.t.Helper()
	w := s.start(args...)
	return w, s.waitStatus(w, "idle")
}

func (s *stage) waitStatus(w *agenttest.Terminal, status string) presence {
	s.t.Helper()
	var p presence
	path := filepath.Join(s.config, "sessions", strconv.Itoa(w.PID())+".json")
	waittest.Until(s.t, func() bool {
		data, err := os.ReadFile(path)
		p = presence{}
		return err == nil && json.Unmarshal(data, &p) == nil && p.Status == status
	}, "waiting for presence %q", status)
	return p
}

// events returns "Name/detail" of the hooks that ran, with the payloads.
func (s *stage) events() (names []string, payloads []map[string]any) {
	s.t.Helper()
	data, err := os.ReadFile(s.hookLog)
	if err != nil {
		return nil, nil
	}
	for l := range strings.Lines(string(data)) {
		_, text, _ := strings.Cut(l, "\t")
		var p map[string]any
		require.NoError(s.t, json.Unmarshal([]byte(text), &p), "%s", l)
		name := p["hook_event_name"].(string)
		for _, key := range []string{"source", "reason", "tool_name"} {
			if detail, ok := p[key].(string); ok {
				name += "/" + detail
			}
		}
		names, payloads = append(names, name), append(payloads, p)
	}
	return names, payloads
}

func (s *stage) waitEvent(name string) map[string]any {
	s.t.Helper()
	var found map[string]any
	waittest.Until(s.t, func() bool {
		names, payloads := s.events()
		for i, n := range names {
			if n == name {
				found = payloads[i]
			}
		}
		return found != nil
	}, "waiting for hook %s", name)
	return found
}

// transcript returns the lines of a session.
func (s *stage) transcript(id uuid.UUID) []map[string]any {
	s.t.Helper()
	f, err := os.Open(transcriptPath(s.config, s.cwd, id))
	require.NoError(s.t, err)
	defer f.Close()
	var lines []map[string]any
	scan := bufio.NewScanner(f)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		var l map[string]any
		require.NoError(s.t, json.Unmarshal(scan.Bytes(), &l))
		lines = append(lines, l)
	}
	require.NoError(s.t, scan.Err())
	return lines
}

// shape summarizes the transcript: types and texts.
func (s *stage) shape(id uuid.UUID) string {
	var out []string
	for _, l := range s.transcript(id) {
		word := l["type"].(string)
		if sub, ok := l["subtype"].(string); ok {
			word += ":" + sub
		}
		if op, ok := l["operation"].(string); ok {
			word += ":" + op
		}
		if m, ok := l["message"].(map[string]any); ok {
			word += contentShape(m["content"])
		}
		out = append(out, word)
	}
	return strings.Join(out, "\n")
}

func contentShape(content any) string {
	switch c := content.(type) {
	case string:
		return " " + c
	case []any:
		b := c[0].(map[string]any)
		for _, key := range []string{"text", "name", "content"} {
			if v, ok := b[key].(string); ok {
				return fmt.Sprintf(" [%s] %s", b["type"], v)
			}
		}
	}
	return ""
}

// submitted returns the prompts that arrived, by the agent's own log.
func (s *stage) submitted() []string {
	return s.logged(brain.Words, brain.Bash, brain.Slash, brain.Notice)
}

// logged returns the texts of some kinds in the agent's own log.
func (s *stage) logged(kinds ...string) []string {
	data, err := os.ReadFile(s.log)
	if err != nil {
		return nil
	}
	var texts []string
	for l := range strings.Lines(string(data)) {
		var r struct{ Text, Kind string }
		require.NoError(s.t, json.Unmarshal([]byte(l), &r))
		if slices.Contains(kinds, r.Kind) {
			texts = append(texts, r.Text)
		}
	}
	return texts
}
