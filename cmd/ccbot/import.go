package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/importer"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/running"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/internal/session"
)

func (c *call) importCommand() *cobra.Command {
	var yes bool
	var owner int64
	cmd := &cobra.Command{Use: "import DIR", Args: someArgs(1, 1, "the state folder", ""), Short: "Import the sessions of the Python ccbot, whose state is in DIR",
		Long: `Make records of the sessions in DIR's state.json and session_map.json, the files of the Python
ccbot, so that /resume continues their conversations. Without --yes it only prints what it would do.
A conversation with a record keeps it, and nothing in DIR is changed. Stop both ccbots first. A
session belongs to a person who used it; --owner names the person for sessions without one,
which are otherwise left out if ALLOWED_USERS has several people.`,
		Example: "  ccbot import ~/.ccbot-python\n  ccbot import ~/.ccbot-python --owner 11111111 --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			report, err := c.importFormer(cmd.Context(), args[0], owner, yes)
			if err != nil {
				return err
			}
			return c.show(report, report.Print)
		}}
	cmd.Flags().BoolVar(&yes, "yes", false, "import the sessions; without it the plan is printed")
	cmd.Flags().Int64Var(&owner, "owner", 0, "Telegram `ID` of the person who gets the sessions without a known person")
	return cmd
}

// importFormer makes the records, with yes, or only reports what it would make.
func (c *call) importFormer(ctx context.Context, dir string, owner int64, yes bool) (report importer.Report, err error) {
	all, err := importer.Read(dir)
	if err != nil {
		return report, fmt.Errorf("import: %w", err)
	}
	load := config.LoadForPlan
	if yes {
		load = config.Load
	}
	settings, err := load(c.environ)
	if err != nil {
		return report, err
	}
	if owner != 0 && !slices.Contains(settings.AllowedUsers, owner) {
		return report, exit.Usage(fmt.Errorf("--owner: %d is not in ALLOWED_USERS", owner))
	}
	if yes {
		held, err := running.Lock(ctx, settings, c.environ, c.stderr)
		if err != nil {
			return report, err
		}
		defer held.Close()
	}
	d, err := offline.Of(settings, c.environ, c.stderr)
	if err != nil {
		return report, err
	}
	name, err := os.Hostname()
	if err != nil {
		return report, fmt.Errorf("host name: %w", err)
	}
	_, sources, err := d.Inspect(ctx)
	if err != nil {
		return report, err
	}
	report = importer.Importer{View: d, Host: name, Sources: sources, Owner: owner}.Plan(ctx, all, time.Now().UTC())
	if report.Made = yes; !yes {
		d.NameUnread(c.stderr)
		return report, nil
	}
	store, err := session.Open(filepath.Join(d.Dir, "sessions"), filepath.Join(d.Dir, "quarantine"), time.Now, settings.QuietLog(c.stderr), offline.AgentNames(settings))
	for _, r := range report.Records() {
		if err == nil {
			err = store.Create(r)
		}
	}
	return report, statefolder.Error(d.Dir, err)
}
