//go:build failpoints

package offline

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"

	"ccbot/agent"
	"ccbot/agent/codex"
	"ccbot/agent/toy"
	"ccbot/cmd/ccbot/config"
	"ccbot/internal/process"
	"ccbot/tmux"
)

// standIn makes another agent the default one, if its program is configured: the toy of the
// conformance suite, or Codex, which no ccbot without this tag knows yet.
func standIn(c config.Config, all agent.Agents) {
	switch launch := all[agent.Default].Launch; filepath.Base(c.ClaudeCommand()) {
	case toy.Program:
		all[agent.Default] = toy.New(c.ClaudeDir, launch)
	case "codex":
		table := tableOnUse{sync.OnceValues(process.NewTable)}
		pane, _ := Program() // without it no pane starts
		all[agent.Default] = codex.New(codex.Machine{Home: c.Agents["CODEX_HOME"], Pane: filepath.Join(filepath.Dir(pane), "ccbot-codex"),
			Processes: table, Title: table.titles(c)}, launch)
	}
}

// tableOnUse is a process table that is opened by its first use.
type tableOnUse struct {
	open func() (*process.Table, error)
}

// Inspect implements [appserver.Processes].
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
		_, panes, err := tmux.Inspect(ctx, tmux.Config{Socket: c.TmuxSocket, Session: c.TmuxSession, Log: slog.New(slog.DiscardHandler), Start: StartOf(table)})
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
