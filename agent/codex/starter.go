package codex

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/internal/pause"
	"ccbot/port/refusal"
)

// Starter is the agent.Starter of Codex.
type Starter struct {
	Pane     string // the absolute path of ccbot-codex
	Home     string // CODEX_HOME
	launched chan struct{}
}

// Relaunch takes the configured launch, and of the recorded one only its model. Codex itself keeps
// the model of a conversation that it resumes.
func (s Starter) Relaunch(recorded *agent.Launch, configured agent.Launch, _ agent.Seen) (l agent.Launch, program string, err error) {
	l = configured
	if recorded != nil {
		if model := modelOf(recorded.Flags); model != "" {
			l = s.WithModel(l, model)
		}
	}
	if program, err = agent.Program(l.Command); err != nil {
		return l, "", &refusal.Error{Code: refusal.NotInstalled, Command: l.Command, Agent: product, Setting: "CODEX_COMMAND", Err: err}
	}
	if err = s.complete(); err == nil {
		program = native(program)
		_, err = Version(context.Background(), program)
	}
	return l, program, err
}

// complete returns a refusal if ccbot itself lacks something that Codex needs.
func (s Starter) complete() error {
	if !filepath.IsAbs(s.Home) {
		return unfit(refusal.UnfitFolder, "", "CODEX_HOME", fmt.Errorf("CODEX_HOME is %q, and not absolute", s.Home))
	}
	if _, err := exec.LookPath(s.Pane); err != nil {
		return unfit(refusal.UnfitPart, s.Pane, "", err)
	}
	return nil
}

// targets are the names of the native programs in npm's packages, by Go's name of the processor.
var targets = map[string]struct{ pkg, triple string }{
	"amd64": {"codex-linux-x64", "x86_64-unknown-linux-musl"},
	"arm64": {"codex-linux-arm64", "aarch64-unknown-linux-musl"},
}

// native returns the program that npm's launcher of Codex starts, and any other program unchanged.
// With an older Node.js that launcher stays as the parent of the program, and ccbot finds a server
// only as a child of ccbot-codex.
func native(program string) string {
	launcher, err := filepath.EvalSymlinks(program)
	target, known := targets[runtime.GOARCH]
	if err != nil || !known || filepath.Base(launcher) != "codex.js" {
		return program
	}
	home := filepath.Dir(filepath.Dir(launcher))
	for _, folder := range []string{filepath.Join(home, "node_modules", "@openai", target.pkg), filepath.Join(filepath.Dir(home), target.pkg), home} {
		if found, err := exec.LookPath(filepath.Join(folder, "vendor", target.triple, "bin", "codex")); err == nil {
			return found
		}
	}
	return program
}

// Argv starts ccbot-codex. A new conversation has no id of Codex yet: its id here shows what the
// window was opened for.
func (s Starter) Argv(program string, l agent.Launch, start agent.Start) []string {
	pause.Poke(s.launched)
	argv := []string{s.Pane, "--codex", program, opened, start.Conversation.String()}
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
	opened = "--conversation" // of ccbot-codex
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
