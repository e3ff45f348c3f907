package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/caarlos0/env/v11"
	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/socket"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/control"
	"ccbot/port/folders"
)

// sendCommand asks the bot to send a file and prints the outcome in one line. The bot itself finds
// out for which session the file is.
func (c *call) sendCommand() *cobra.Command {
	var caption string
	cmd := &cobra.Command{Use: "send FILE", Args: someArgs(1, 1, "which file", " [--caption TEXT]; one file at a time: quote a name with blanks"),
		Short: "Send a file into the session's chat (for the agent, from inside its window)",
		Long: `Send a file into the chat of the session that this command runs in. It is for the agent:
"ccbot send report.pdf --caption 'the report'".

The file must be a regular one of at most 52 MB in the session's folder; copy a file from
elsewhere into the folder first. ccbot's own files are never sent. A session may send ten files
a minute.`,
		Example: "  ccbot send report.pdf --caption 'the report'",
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			if !folders.IsText(path) {
				return fmt.Errorf("%s was not sent: its path is not UTF-8, so ccbot does not use it", terminal.Printable(args[0]))
			}
			dir, err := stateDir(c.environ)
			if err != nil {
				return err
			}
			if err := socket.Send(cmd.Context(), dir, path, caption); err != nil {
				return sendFailure(args[0], dir, err)
			}
			_, err = fmt.Fprintf(c.stdout, "%s is in the chat\n", terminal.Printable(args[0]))
			return err
		}}
	cmd.Flags().StringVar(&caption, "caption", "", "a text below the file, at most 1,024 characters")
	return cmd
}

// sendFailure returns the reason why a file was not sent.
func sendFailure(file, dir string, err error) error {
	refusal := (*control.Refusal)(nil)
	file = terminal.Printable(file)
	switch {
	case errors.As(err, &refusal):
		return fmt.Errorf("%s was not sent: %s", file, refusal.Text)
	case errors.Is(err, control.ErrNoServer):
		return fmt.Errorf("%s was not sent: no ccbot is running for %s", file, dir)
	case errors.Is(err, control.ErrLost), errors.Is(err, context.Canceled):
		return fmt.Errorf("it is not known whether %s was sent: %w", file, err)
	}
	return fmt.Errorf("%s was not sent: %w", file, err)
}

// stateDir is ccbot's folder as the environment names it; in a window of ccbot's the variable is
// set.
func stateDir(environ []string) (string, error) {
	vars := env.ToMap(environ)
	if vars["HOME"] == "" && !filepath.IsAbs(vars["CCBOT_DIR"]) {
		return "", config.ErrNoHome
	}
	dir := config.StateFolder(vars, vars["HOME"])
	if !filepath.IsAbs(dir) {
		return "", exit.Usage(errors.New("CCBOT_DIR must be an absolute path"))
	}
	return dir, nil
}
