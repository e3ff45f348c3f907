package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/show"
	"ccbot/internal/gauge"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

func listCommand(environ []string, stdout, stderr io.Writer) *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{Use: "list", Args: noArgs, Short: "List the sessions that are open; --all: every one of every project",
		Long: `List the sessions that are open, with --all every record there is, over all projects.
SEEN is the last sign of life, MODE the permission mode, CTX how much of the context window is used, MEM the
memory of the agent and all that it has started, TASKS its own to-do items. --json prints all that is known. It reads only: it needs no
token, takes no lock, and may run beside the bot.`,
		Example: "  ccbot list\n  ccbot list --all --json | jq -r '.[].name'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return list(cmd.Context(), environ, all, asJSON, stdout, stderr)
		}}
	cmd.Flags().BoolVar(&all, "all", false, "also what is over")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, with everything that is known")
	return cmd
}

func list(ctx context.Context, environ []string, all, asJSON bool, stdout, stderr io.Writer) error {
	c, store, err := openForReading(environ, stderr)
	if err != nil {
		return err
	}
	table, err := process.NewTable()
	if err != nil {
		return err
	}
	sessions := []show.Session{} // in JSON an empty list, not null
	records := store.List()
	running, _ := table.Snapshot(ctx) // without it the memory is not known
	for _, r := range records {
		if all || isOpen(r) {
			l := show.SessionOf(r, table.Liveness)
			if r.State.Live() && r.Binding != nil {
				l.Memory = gauge.Sum(ctx, lifecycle.Tree(running, r.Binding.Agent)...)
			}
			sessions = append(sessions, l)
		}
	}
	return show.Sessions(stdout, sessions, len(records), c.Home, asJSON)
}

// isOpen says whether there is something to do for a session.
func isOpen(r session.Record) bool { return !r.State.Over() }
