package main

import (
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/show"
	"ccbot/host"
	"ccbot/i18n"
	"ccbot/internal/ledger"
)

func usageCommand(environ []string, stdout, stderr io.Writer) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "usage", Args: noArgs, Short: "Print what agents have used in the last 30 days",
		Long: `Print the limits of the account as far as they are known, and the tokens that all agents of
this machine have used today and in the last 7 and 30 days, with an estimate of what they
cost. It reads only: all transcripts, so the first time may take a while.`,
		Example: "  ccbot usage\n  ccbot usage --json | jq '.spans[0].all.cost_usd'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := openDesk(environ, stderr)
			if err != nil {
				return err
			}
			log := newLog(d.Config, slog.LevelWarn, stderr)
			read := ledger.New(d.ProjectsDir(), filepath.Join(d.Dir, "usage"), time.Now, log)
			read.ReadOnly = true
			spent := &host.Spending{Ledger: read, Dir: d.Dir, Records: d.store, Now: time.Now, Log: log}
			report, err := spent.Spent(cmd.Context())
			if err != nil {
				return err
			}
			broken := d.words.Say(i18n.UsagePricesBroken, i18n.Args{"Path": d.words.Short(report.Broken)})
			return show.Used(stdout, report, spent.Limits(), broken, asJSON)
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
