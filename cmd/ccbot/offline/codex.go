package offline

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"ccbot/agent"
	"ccbot/agent/codex"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/environment"
	"ccbot/internal/process"
	"ccbot/port/refusal"
	"ccbot/tmux"
)

// codexOf holds the parts of Codex. Its pane runs ccbot-codex, which is next to ccbot.
func codexOf(c config.Config) agent.Agent {
	pane, err := Program()
	if err == nil {
		pane = filepath.Join(filepath.Dir(pane), "ccbot-codex")
	}
	table := tableOnUse{sync.OnceValues(process.NewTable)}
	return codex.New(codex.Machine{Home: c.CodexDir, Pane: pane, Processes: table, Title: table.titles(c)},
		agent.Launch{Command: c.CodexCommand(), PermissionMode: c.PermissionMode})
}

// InstallAgent is the remedy if there is no agent.
const InstallAgent = "install Claude Code, or on Linux Codex; CLAUDE_COMMAND or CODEX_COMMAND is its path"

// CodexState is the Codex of a machine.
type CodexState struct {
	Version string
	NoLogin string // why it is not logged in, in its words; empty: it is
}

// InspectCodex looks at the Codex that launches start. The error is the refusal of a launch.
func InspectCodex(ctx context.Context, c config.Config, environ []string) (seen CodexState, err error) {
	by, is := Agents(c)["codex"]
	if !is {
		return seen, &refusal.Error{Code: refusal.AgentUnfit, Reason: refusal.UnfitUnknown}
	}
	_, program, err := by.Starter.Relaunch(nil, by.Launch, agent.Seen{})
	if err != nil {
		return seen, err
	}
	if seen.Version, err = codex.Version(ctx, program); err != nil {
		return seen, err
	}
	seen.NoLogin = "Not logged in"
	if _, err := os.Stat(c.CodexDir); err == nil { // otherwise Codex would make the folder
		seen.NoLogin = codex.NoLogin(ctx, program, append(environment.Server(environ), "CODEX_HOME="+c.CodexDir))
	}
	return seen, nil
}

// tableOnUse is a process table that is opened by its first use: most verbs ask no server.
type tableOnUse struct {
	open func() (*process.Table, error)
}

func (t tableOnUse) Inspect(pid int) (process.Process, error) {
	table, err := t.open()
	if err != nil {
		return process.Process{}, err
	}
	return table.Inspect(pid)
}

// titles returns the title of the pane whose process has started a server; empty: it is unknown.
func (t tableOnUse) titles(c config.Config) func(ctx context.Context, server int) string {
	return func(ctx context.Context, server int) string {
		p, err := t.Inspect(server)
		if err != nil {
			return ""
		}
		table, err := t.open()
		if err != nil {
			return ""
		}
		_, panes, err := tmux.Inspect(ctx, tmux.Config{Socket: c.TmuxSocket, Session: c.TmuxSession, Env: environment.Server(os.Environ()),
			Log: slog.New(slog.DiscardHandler), Start: StartOf(table)})
		if err != nil {
			return ""
		}
		for _, pane := range panes {
			if pane.PID == p.PPID {
				return pane.Title
			}
		}
		return ""
	}
}
