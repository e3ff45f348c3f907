package main

import (
	"context"
	"errors"
	"io"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"ccbot/bot/port/views"
	"ccbot/bot/sessions"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/i18n"
)

// ended is a session that was ended.
type ended struct {
	ID      uuid.UUID   `json:"id"`
	Name    string      `json:"name"`
	State   views.State `json:"state"`
	Receipt string      `json:"receipt"` // what was done, as the chat says it
}

// ending ends one launch of a session. It goes on when who has asked is gone.
var ending = change[sessions.End, ended]{verb: "archive", do: func(ctx context.Context, s *system, body sessions.End) (ended, error) {
	if body.Session == uuid.Nil || body.Final != views.Archived && body.Final != views.Completed {
		return ended{}, refuse(codeMalformed, "not a session and how it ends")
	}
	ctx, done := s.lasting(ctx)
	defer done()
	var r views.Session
	did, err := s.receipts.of(body.Session, func() (err error) {
		r, err = sessions.Desk{Sessions: s.bot.Resumer}.End(ctx, body)
		return err
	})
	if err != nil {
		return ended{}, asTheChatSays(s.english(), r, err)
	}
	return ended{ID: r.ID, Name: r.Name, State: r.State, Receipt: inTerminal(sessions.ReceiptText(s.english(), r, did).Text)}, nil
}}

// errNotClean is for scripts; the receipt says what is left.
var errNotClean = errors.New("not everything of the session is proven to have ended")

// endCommand is a verb that ends a session: archive, or done.
func endCommand(verb, short string, final views.State, question i18n.Key, environ []string, stdout, stderr io.Writer) *cobra.Command {
	var yes, asJSON bool
	cmd := &cobra.Command{Use: verb + " NAME|ID", Args: oneSession(verb), Short: short,
		Long: short + `. The agent and all that it has
started are ended, each with proof, and what was done is printed. The conversation is
kept: "ccbot resume" brings it back. It asks first, unless --yes is given.`,
		Example: "  ccbot " + verb + " api\n  ccbot " + verb + " --yes api",
		RunE: func(cmd *cobra.Command, args []string) error {
			answers := cmd.InOrStdin()
			if yes {
				answers = nil
			}
			d, err := openDesk(environ, stderr)
			if err != nil {
				return err
			}
			r, err := d.find(args[0], sessions.Endable)
			if err != nil {
				return err
			}
			if err := confirm(&terminal.Printer{Out: stderr}, inTerminal(d.words.Text(question, i18n.Args{"Name": r.Name}).Text), answers); err != nil {
				return err
			}
			did, _, err := ending.make(cmd.Context(), environ, stderr, sessions.End{Session: r.ID, Launch: r.StartedAt, Final: final})
			if err != nil {
				return err
			}
			err = terminal.Show(stdout, asJSON, did, func(p *terminal.Printer) { p.Line("%s", terminal.Text(did.Receipt)) })
			if err == nil && did.State == views.CleanupFailed {
				err = errNotClean
			}
			return err
		}}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func archiveCommand(environ []string, stdout, stderr io.Writer) *cobra.Command {
	return endCommand("archive", "End a session and archive it", views.Archived, i18n.KillConfirm, environ, stdout, stderr)
}

func doneCommand(environ []string, stdout, stderr io.Writer) *cobra.Command {
	return endCommand("done", "End a session and mark it as done", views.Completed, i18n.DoneConfirm, environ, stdout, stderr)
}
