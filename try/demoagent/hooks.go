package demoagent

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	hookTimeout = 10 * time.Minute
	// endTimeout bounds SessionEnd hooks: the real CLI waits for them, but not for ever.
	endTimeout = 10 * time.Second
	// killAfter is how long a hook has to end by itself after SIGTERM.
	killAfter = 1400 * time.Millisecond
)

// hookResult is the result of one hook command.
type hookResult struct {
	Command  string
	Stdout   []byte
	Duration time.Duration
	Err      error
}

// hookRunner runs the commands of an event; all of one event at the same time.
type hookRunner struct {
	settings settings
	off      bool
	log      string // a file for the events whose hooks have ended, or ""
	cwd      string
	env      environment
}

// run runs all commands with the payload on stdin and waits for them. The end of ctx ends them.
func (h hookRunner) run(ctx context.Context, event, subject string, payload map[string]any) []hookResult {
	hooks := h.settings.hooksFor(event, subject)
	if h.off || len(hooks) == 0 {
		return nil
	}
	data, err := json.Marshal(payload)
	if err != nil {
		return nil
	}
	results := make([]hookResult, len(hooks))
	var wg sync.WaitGroup
	for i, one := range hooks {
		wg.Go(func() { results[i] = h.one(ctx, one, event, payload, data) })
	}
	wg.Wait()
	if file, err := os.OpenFile(h.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		_, _ = file.WriteString(event + "\n") // a test that waits for it says so
		_ = file.Close()
	}
	return results
}

func (h hookRunner) one(ctx context.Context, one hook, event string, payload map[string]any, data []byte) hookResult {
	limit := hookTimeout
	if event == "SessionEnd" {
		limit = endTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, one.timeout(limit))
	defer cancel()
	start := time.Now()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", one.Command) //nolint:gosec // that is what a hook is
	cmd.Dir, cmd.Env = h.cwd, h.environment(payload)
	cmd.Stdin = bytes.NewReader(data)
	inGroup(cmd)
	out, err := cmd.Output()
	if ctx.Err() != nil {
		killGroup(cmd)
	}
	return hookResult{Command: one.Command, Stdout: out, Duration: time.Since(start), Err: err}
}

// environment returns the variables that the real CLI adds for a hook.
func (h hookRunner) environment(payload map[string]any) []string {
	id, _ := payload["session_id"].(string)
	env := slices.Clone(h.env)
	for name, value := range h.settings.Env {
		env = append(env, name+"="+value)
	}
	return append(env,
		"CLAUDE_PID="+strconv.Itoa(os.Getpid()), "CLAUDE_CODE_SESSION_ID="+id, "CLAUDECODE=1",
		"CLAUDE_PROJECT_DIR="+h.cwd, "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_CODE_CHILD_SESSION=1",
		"CLAUDE_CODE_SESSION_ATTENDED=1", "AI_AGENT=claude-code_2-1-328_harness")
}

// decision is the output of a PermissionRequest hook.
type decision struct {
	Behavior           string         `json:"behavior"`
	Message            string         `json:"message"`
	Interrupt          bool           `json:"interrupt"`
	UpdatedInput       map[string]any `json:"updatedInput"`
	UpdatedPermissions []update       `json:"updatedPermissions"`
}

// permission returns the first decision among the results; a hook that failed or printed something
// else has none, and the dialog stays.
func permission(results []hookResult) (decision, bool) {
	for _, r := range results {
		var out struct {
			Specific struct {
				Event    string   `json:"hookEventName"`
				Decision decision `json:"decision"`
			} `json:"hookSpecificOutput"`
		}
		if r.Err != nil || json.Unmarshal(r.Stdout, &out) != nil || out.Specific.Event != "PermissionRequest" {
			continue
		}
		if d := out.Specific.Decision; d.Behavior == "allow" || d.Behavior == "deny" {
			return d, true
		}
	}
	return decision{}, false
}

// blocked reports whether a UserPromptSubmit hook refuses the prompt, and returns the reason.
func blocked(results []hookResult) (string, bool) {
	for _, r := range results {
		var out struct{ Decision, Reason string }
		if r.Err == nil && json.Unmarshal(r.Stdout, &out) == nil && out.Decision == "block" {
			return out.Reason, true
		}
	}
	return "", false
}
