package demoagent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// runStatusLine asks the status line command for the rows below the box: at the start and after
// each answer, never while the session is idle or a dialog is open.
func (a *agent) runStatusLine() {
	command := a.settings.StatusLine.Command
	if command == "" || a.hooks.off || a.dialog != nil {
		return
	}
	data, err := json.Marshal(a.statusInput())
	if err != nil {
		return
	}
	width, height := a.brain.Size()
	env := append(a.hooks.environment(map[string]any{"session_id": a.id.String()}), "COLUMNS="+strconv.Itoa(width), "LINES="+strconv.Itoa(height))
	var out []byte
	a.brain.Async(func() {
		cmd := exec.CommandContext(a.brain.Context(), "/bin/sh", "-c", command) //nolint:gosec // configured by the person
		cmd.Dir, cmd.Env, cmd.Stdin = a.cwd, env, bytes.NewReader(data)
		inGroup(cmd)
		out, _ = cmd.Output() // without output there is an empty row
	}, func() { a.statusLine = strings.Split(strings.TrimRight(string(out), "\n"), "\n") })
}

// statusInput is the JSON on stdin, as far as it is known; numbers are invented. Before the first
// answer nothing is known of the context.
func (a *agent) statusInput() map[string]any {
	context := map[string]any{"total_input_tokens": 0, "total_output_tokens": 0, "context_window_size": 200000,
		"current_usage": nil, "used_percentage": nil, "remaining_percentage": nil}
	cost := 0.0
	if n := len(a.entries); n > 0 {
		used := min(1+n/4, 100)
		cost = float64(n) / 1000
		context["total_input_tokens"], context["used_percentage"], context["remaining_percentage"] = used*2000, used, 100-used
		context["current_usage"] = map[string]any{"input_tokens": 10, "output_tokens": 13, "cache_creation_input_tokens": 0, "cache_read_input_tokens": used * 2000}
	}
	input := map[string]any{
		"session_id": a.id, "transcript_path": a.transcript.path, "cwd": a.cwd, "version": version,
		"effort": map[string]any{"level": "medium"}, "output_style": map[string]any{"name": "default"},
		"model":     map[string]any{"id": model, "display_name": cmp.Or(a.model, "Demo agent")},
		"workspace": map[string]any{"current_dir": a.cwd, "project_dir": a.cwd, "added_dirs": []any{}},
		"cost": map[string]any{"total_cost_usd": cost, "total_duration_ms": time.Since(a.begun).Milliseconds(), "total_api_duration_ms": 0,
			"total_lines_added": 0, "total_lines_removed": 0},
		"context_window": context, "exceeds_200k_tokens": false, "fast_mode": false, "thinking": map[string]any{"enabled": true},
	}
	if a.promptID != "" {
		input["prompt_id"] = a.promptID
	}
	return input
}
