package main

import (
	"io"

	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/show"
)

func whyCommand(environ []string, stdout, stderr io.Writer) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "why NAME|ID", Args: oneSession("why"), Short: "Say what became of a session, by which rule and on what evidence",
		Long: `Say what became of a session: when, from which state to which, by which rule and on
what evidence, oldest first. It reads only. Times are this machine's, with --json UTC.`,
		Example: "  ccbot why api",
		RunE:    func(_ *cobra.Command, args []string) error { return why(environ, args[0], asJSON, stdout, stderr) }}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func why(environ []string, what string, asJSON bool, stdout, stderr io.Writer) error {
	_, store, err := openForReading(environ, stderr)
	if err != nil {
		return err
	}
	records := store.List()
	r, err := find(records, what)
	if err == nil {
		r, err = store.Whole(r.ID)
	}
	if err != nil {
		return err
	}
	return show.Became(stdout, records, r, asJSON)
}
