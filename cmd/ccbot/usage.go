package main

import (
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/show"
	"ccbot/host"
	"ccbot/i18n"
	"ccbot/internal/ledger"
	"ccbot/internal/pause"
)

func (c *call) usageCommand() *cobra.Command {
	return &cobra.Command{Use: "usage", Args: noArgs, Short: "Print what agents have used in the last 30 days",
		Long: `Print the known limits of the account, and the tokens in the agents' transcripts, of
today and the last 7 and 30 days, with an estimate of their cost. It is read-only, and may take a
while.`,
		Example: "  ccbot usage\n  ccbot usage --json | jq '.spans[0].all.cost_usd'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := offline.Open(c.environ, c.stderr)
			if err != nil {
				return err
			}
			log := d.Log(slog.LevelWarn, c.stderr)
			agents := offline.Agents(d.Config)
			read := ledger.New(agents, filepath.Join(d.Dir, "usage"), time.Now, log)
			read.ReadOnly = true
			spent := &host.Spending{Ledger: read, Agents: agents, Dir: d.Dir, Records: d.Store, Now: time.Now, Log: log}
			report, err := spent.Spent(cmd.Context(), pause.Forever)
			if err != nil {
				return err
			}
			limits, err := spent.Limits(cmd.Context())
			if err != nil {
				return err
			}
			words := d.Words()
			broken := words.Say(i18n.UsagePricesBroken, i18n.Args{"Path": words.Short(report.Broken)})
			return paged(c, func(out io.Writer) error { return show.Used(out, report, limits, broken, c.asJSON) })
		}}
}
