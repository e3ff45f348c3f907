package codex

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/port/refusal"
)

// ErrNotInstalled means that the command of Codex cannot be found.
var ErrNotInstalled error = &refusal.Error{Code: refusal.NotInstalled, Command: "codex", Err: errors.New("codex is not installed")}

// Starter is the agent.Starter of Codex.
type Starter struct {
	Pane string // the absolute path of ccbot-codex
}

// Relaunch takes the configured launch, and of the recorded one only its model. Codex itself keeps
// the model of a conversation that it resumes.
func (Starter) Relaunch(recorded *agent.Launch, configured agent.Launch, _ agent.Seen) (l agent.Launch, program string, err error) {
	l = configured
	if recorded != nil {
		if model := modelOf(recorded.Flags); model != "" {
			l = Starter{}.WithModel(l, model)
		}
	}
	if program, err = exec.LookPath(l.Command); err == nil {
		program, err = filepath.Abs(program)
	}
	if err != nil {
		err = &refusal.Error{Code: refusal.NotInstalled, Command: l.Command, Err: fmt.Errorf("%w: %w", ErrNotInstalled, err)}
	}
	return l, program, err
}

// Argv starts ccbot-codex. A new conversation has no id yet.
func (s Starter) Argv(program string, l agent.Launch, start agent.Start) []string {
	argv := []string{s.Pane, "--codex", program}
	switch {
	case start.Resumes:
		argv = append(argv, "resume", start.Conversation.String())
	case start.CopyOf != uuid.Nil:
		argv = append(argv, "fork", start.CopyOf.String())
	}
	argv = append(argv, "--")
	if l.PermissionMode == agent.ModeBypass {
		argv = append(argv, bypass)
	}
	return append(argv, l.Flags...)
}

// The flags that matter to ccbot.
const (
	bypass = "--dangerously-bypass-approvals-and-sandbox"
	model  = "--model"
)

// modelOf returns the model that flags name, or "".
func modelOf(flags []string) (name string) {
	for i, flag := range flags {
		switch value, is := strings.CutPrefix(flag, model+"="); {
		case is:
			name = value
		case (flag == model || flag == "-m") && i+1 < len(flags):
			name = flags[i+1]
		}
	}
	return name
}

// WithModel adds --model: the last one counts.
func (Starter) WithModel(l agent.Launch, name string) agent.Launch {
	l.Flags = append(slices.Clone(l.Flags), model, name)
	return l
}

// Bypasses reads the mode, which is an approval policy, and the flags.
func (Starter) Bypasses(l agent.Launch, mode string) bool {
	return mode == "never" || l.PermissionMode == agent.ModeBypass ||
		slices.ContainsFunc(l.Flags, func(f string) bool {
			return f == bypass || f == "--yolo" || f == "never" || strings.HasSuffix(f, "=never")
		})
}

// Inherited returns no variables: a launch has no settings.
func (Starter) Inherited() []string { return nil }
