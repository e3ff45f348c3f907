package claude

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/agent/claude/claudeflags"
	"ccbot/agent/claude/claudesettings"
	"ccbot/port/refusal"
)

// ErrNotInstalled means that the command of Claude Code cannot be found.
var ErrNotInstalled = notInstalled("claude", errors.New("claude is not installed"))

func notInstalled(command string, err error) error {
	return &refusal.Error{Code: refusal.NotInstalled, Command: command, Agent: "Claude Code", Setting: "CLAUDE_COMMAND", Err: err}
}

// Starter is the agent.Starter of Claude Code.
type Starter struct{}

// Relaunch looks the command up each time, because tmux would show a missing command as an empty
// dead window.
func (Starter) Relaunch(recorded *agent.Launch, configured agent.Launch, seen agent.Seen) (l agent.Launch, program string, err error) {
	l = claudeflags.Relaunch(recorded, configured, seen)
	if program, err = agent.Program(l.Command); err != nil {
		err = notInstalled(l.Command, fmt.Errorf("%w: %w", ErrNotInstalled, err))
	}
	return l, program, err
}

// Argv names the conversation by --session-id or --resume, and a copy by --fork-session.
func (Starter) Argv(program string, l agent.Launch, s agent.Start) []string {
	argv, id := []string{program, "--settings", s.Settings}, s.Conversation.String()
	switch {
	case s.Resumes:
		argv = append(argv, "--resume", id)
	case s.CopyOf != uuid.Nil:
		argv = append(argv, "--resume", s.CopyOf.String(), "--fork-session", "--session-id", id)
	default:
		argv = append(argv, "--session-id", id)
	}
	return append(argv, l.Flags...)
}

// WithModel sets --model. Its value for a model of the list is the name in small letters; any other
// name is a model's id.
func (Starter) WithModel(l agent.Launch, model string) agent.Launch {
	if listed := abilities.Model(model); listed != "" {
		model = strings.ToLower(listed)
	}
	return claudeflags.WithModel(l, model)
}

// Bypasses reads the flags and the mode.
func (Starter) Bypasses(l agent.Launch, mode string) bool {
	return mode == claudeflags.ModeBypass || claudeflags.Bypasses(l)
}

// Settings is the agent.Settings of Claude Code.
type Settings struct{ claudesettings.Launch }

// Write repeats the variables that act on the command line of a hook.
func (s Settings) Write(session uuid.UUID, dir string, inherited func([]string) (map[string]string, error)) (path, hook string, err error) {
	started, err := inherited(claudesettings.Inherited())
	if err == nil {
		path, err = s.Launch.Write(session, dir, started)
	}
	return path, s.HookDigest(), err
}
