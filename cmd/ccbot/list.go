package main

import (
	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"io"

	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/show"
	"ccbot/internal/gauge"
	"ccbot/port"
)

func (c *call) listCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{Use: "list", Args: noArgs, Short: "List the open sessions; --all: also ended ones",
		Long: `List the open sessions, with --all all records, of all projects. SEEN is the last sign of life,
MODE ask or bypass, CTX the used part of the context window, MEM the memory of the agent
and its processes, TASKS its to-do items. --json prints more. It is read-only: it
needs no token, takes no lock, and may run next to the bot.`,
		Example: "  ccbot list\n  ccbot list --all --json | jq -r '.[].name'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := offline.Open(c.environ, c.stderr)
			if err != nil {
				return err
			}
			sessions := []show.Session{} // in JSON an empty list, not null
			records := d.Store.List()
			var live []uuid.UUID
			for _, r := range records {
				if r.State.Live() && r.Binding != nil {
					live = append(live, r.ID)
				}
			}
			looks := make(map[uuid.UUID]port.Status)
			if len(live) > 0 {
				if looks, err = d.Terminals(d.Tmux(cmd.Context())).Inspect(cmd.Context(), live...); err != nil {
					return err
				}
			}
			for _, r := range records {
				if !all && r.State.HasEnded() {
					continue
				}
				l := show.SessionOf(r, d.Table.Liveness)
				if look, lives := looks[r.ID]; lives {
					see(&l, r, look)
					l.Memory = gauge.Sum(cmd.Context(), look.PIDs...)
				}
				sessions = append(sessions, l)
			}
			return paged(c, func(out io.Writer) error { return show.Sessions(out, sessions, len(records), d.Home, c.asJSON) })
		}}
	cmd.Flags().BoolVar(&all, "all", false, "also ended sessions")
	return cmd
}
