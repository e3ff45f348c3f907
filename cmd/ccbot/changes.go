package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"ccbot/bot/port/refusal"
	"ccbot/cmd/ccbot/environment"
	"ccbot/cmd/ccbot/show"
	"ccbot/i18n"
	"ccbot/internal/git"
)

func changesCommand(environ []string, stdout, stderr io.Writer) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "changes NAME|ID [FILE]", Short: "Print what has changed in a session's folder since its start",
		Args: someSession("changes NAME|ID [FILE]", 2),
		Long: `Print the files that have changed in the repository of a session's folder since the
session's start, committed since or not; with FILE, by its path in that list, its hunks.
It asks git, and changes nothing.`,
		Example: "  ccbot changes api\n  ccbot changes api cmd/main.go",
		RunE: func(cmd *cobra.Command, args []string) error {
			return printChanges(cmd.Context(), environ, args, asJSON, stdout, stderr)
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printChanges(ctx context.Context, environ, args []string, asJSON bool, stdout, stderr io.Writer) error {
	d, err := openDesk(environ, stderr)
	if err != nil {
		return err
	}
	r, err := d.find(args[0], anySession)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "ccbot-changes-") // ccbot's own folder is the running bot's
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	changed := diffsOf(d.Config, d.store, environ)
	changed.Open = func(ctx context.Context, dir string) (*git.Tree, error) {
		return git.OpenTree(ctx, dir, environment.Server(environ), work)
	}
	if len(args) == 1 {
		err = show.Changed(ctx, stdout, changed, r.ID, asJSON)
	} else if err = show.Hunks(ctx, stdout, changed, r.ID, args[1], asJSON); refusal.Is(err, refusal.Unchanged) {
		return errors.New(d.words.Say(i18n.ChangesUnchanged, i18n.Args{"Path": args[1]}))
	}
	return sentence(asTheChatSays(d.words, r, err))
}
