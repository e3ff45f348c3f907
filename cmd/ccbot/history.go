package main

import (
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/show"
	"ccbot/host"
)

// someSession wants the name of one session, and takes more behind it.
func someSession(usage string, most int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 || len(args) > most || args[0] == "" {
			return exit.Usage(errors.New("say which session: ccbot " + usage))
		}
		return nil
	}
}

func historyCommand(environ []string, stdout, stderr io.Writer) *cobra.Command {
	var most int
	var asJSON bool
	cmd := &cobra.Command{Use: "history NAME|ID [WORD]", Short: "Print what was said in a session, or find a word in it",
		Args: someSession("history NAME|ID [WORD]; quote several words", 2),
		Long: `Print the last prompts and answers of a session, also of one that is over; with WORD the
places that have the word, in small or capital letters. The oldest is the first. It reads
only, from Claude Code's own file.`,
		Example: "  ccbot history api -n 5\n  ccbot history api 'rate limit'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if most < 1 {
				return exit.Usage(errors.New("-n is 1 or more"))
			}
			d, err := openDesk(environ, stderr)
			if err != nil {
				return err
			}
			r, err := d.find(args[0], anySession)
			if err != nil {
				return err
			}
			said := host.Conversations{Records: d.store, Projects: d.ProjectsDir()}
			if len(args) > 1 && strings.TrimSpace(args[1]) != "" {
				err = show.Found(cmd.Context(), stdout, said, r.ID, strings.TrimSpace(args[1]), most, asJSON)
			} else {
				err = show.Said(cmd.Context(), stdout, said, r.ID, most, asJSON)
			}
			return sentence(asTheChatSays(d.words, r, err))
		}}
	cmd.Flags().IntVarP(&most, "number", "n", 10, "how many are printed at most")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
