package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/desk"
	"ccbot/cmd/ccbot/importer"
	"ccbot/cmd/ccbot/running"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/internal/session"
)

func (c *call) importCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{Use: "import DIR", Args: someArgs(1, 1, "where the state is", ""), Short: "Take over the sessions of the Python ccbot, whose state lies in DIR",
		Long: `Make a record for each session in DIR's state.json and session_map.json, the files of the Python ccbot, so that
/resume goes on with its conversation. Without --yes it only prints what it would do. What is known already is left as it
is, and nothing in DIR is changed. Stop both ccbots first.`,
		Example: "  ccbot import ~/.ccbot-python\n  ccbot import ~/.ccbot-python --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			report, err := c.importFormer(cmd.Context(), args[0], yes)
			if err != nil {
				return err
			}
			return c.show(report, report.Print)
		}}
	cmd.Flags().BoolVar(&yes, "yes", false, "do it")
	return cmd
}

// importFormer makes the records, with yes, or only says what it would make.
func (c *call) importFormer(ctx context.Context, dir string, yes bool) (report importer.Report, err error) {
	all, err := importer.Read(dir)
	if err != nil {
		return report, fmt.Errorf("import: %w", err)
	}
	settings, err := config.Load(c.environ)
	if err != nil {
		return report, err
	}
	if yes {
		held, err := running.Lock(ctx, settings, c.environ, c.stderr)
		if err != nil {
			return report, err
		}
		defer held.Close()
	}
	d, err := desk.Of(settings, c.environ, c.stderr)
	if err != nil {
		return report, err
	}
	name, err := os.Hostname()
	if err != nil {
		return report, fmt.Errorf("host name: %w", err)
	}
	_, sources, err := d.Look(ctx)
	if err != nil {
		return report, err
	}
	report = importer.Importer{Desk: d, Host: name, Sources: sources}.Plan(ctx, all, time.Now().UTC())
	if report.Made = yes; !yes {
		d.NameUnread(c.stderr)
		return report, nil
	}
	store, err := session.Open(filepath.Join(d.Dir, "sessions"), filepath.Join(d.Dir, "quarantine"), time.Now, settings.QuietLog(c.stderr))
	for _, r := range report.Records() {
		if err == nil {
			err = store.Create(r)
		}
	}
	return report, statefolder.Error(d.Dir, err)
}
