package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/importer"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

func importCommand(environ []string, stdout, stderr io.Writer) *cobra.Command {
	var yes, asJSON bool
	cmd := &cobra.Command{Use: "import DIR", Args: oneFolder, Short: "Take over the sessions of the Python ccbot, whose state lies in DIR",
		Long: `Make a record for each session in DIR's state.json and session_map.json, the files of the Python ccbot, so that
/resume goes on with its conversation. Without --yes it only prints what it would do. What is known already is left as it
is, and nothing in DIR is changed. Stop both ccbots first.`,
		Example: "  ccbot import ~/.ccbot-python\n  ccbot import ~/.ccbot-python --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			report, err := importFormer(cmd.Context(), environ, args[0], yes, stderr)
			if err != nil {
				return err
			}
			return terminal.Show(stdout, asJSON, report, report.Print)
		}}
	cmd.Flags().BoolVar(&yes, "yes", false, "do it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// oneFolder wants the folder of the other program's state.
func oneFolder(_ *cobra.Command, args []string) error {
	if len(args) != 1 || args[0] == "" {
		return exit.Usage(errors.New("say where the state is: ccbot import DIR"))
	}
	return nil
}

// importFormer makes the records, with yes, or only says what it would make.
func importFormer(ctx context.Context, environ []string, dir string, yes bool, stderr io.Writer) (report importer.Report, err error) {
	all, err := importer.Read(dir)
	if err != nil {
		return report, fmt.Errorf("import: %w", err)
	}
	c, err := config.Load(environ)
	if err != nil {
		return report, err
	}
	open := func() (*session.Store, error) { return openRecords(c.Dir, stderr) }
	if yes {
		let, err := lockRecords(ctx, c, environ, stderr)
		if err != nil {
			return report, err
		}
		defer let()
		open = func() (*session.Store, error) {
			return session.Open(filepath.Join(c.Dir, "sessions"), filepath.Join(c.Dir, "quarantine"), time.Now, quietLog(c, stderr))
		}
	}
	store, err := open()
	if err != nil {
		return report, statefolder.Error(c.Dir, err)
	}
	i, err := importerOf(ctx, c, environ, store)
	if err != nil {
		return report, err
	}
	report = i.Plan(all, time.Now().UTC())
	report.Made = yes
	for _, r := range report.Records() {
		if !yes {
			break
		}
		if err := store.Create(r); err != nil {
			return report, statefolder.Error(c.Dir, err)
		}
	}
	return report, nil
}

// importerOf looks at what is there.
func importerOf(ctx context.Context, c config.Config, environ []string, store *session.Store) (i importer.Importer, err error) {
	name, err := os.Hostname()
	if err != nil {
		return i, fmt.Errorf("host name: %w", err)
	}
	table, err := process.NewTable()
	if err != nil {
		return i, err
	}
	_, sources, err := look(ctx, c, environ, store, table, slog.New(slog.DiscardHandler))
	if err != nil {
		return i, err
	}
	return importer.Importer{Host: name, Allowed: c.AllowedUsers, Projects: c.ProjectsDir(), Records: store.List(),
		Folder: func(path string) (string, error) { return sessionFolder(ctx, c, path) },
		Written: func(id uuid.UUID) (bool, error) {
			written, err := sources.Written(ctx, id)
			return written[id], err
		}}, nil
}
