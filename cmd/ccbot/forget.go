package main

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"ccbot/archive"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/running"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/i18n"
)

// forgottenSession is a session whose record was deleted.
type forgottenSession struct {
	ID    uuid.UUID `json:"id"`
	Name  string    `json:"name"`
	Stays string    `json:"conversation_file,omitempty"` // the agent's own, which is kept
}

func (c *call) forgetCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{Use: "forget NAME|ID", Args: oneSession, Short: "Delete the record of an ended session, and its copies in backups/",
		Long: `Delete ccbot's record of an ended session: from the sessions, from backups/, and from the records
that were removed because of their age. This cannot be undone. The chat's data about the session is
also deleted. The agent's own files stay; the command prints the path of the last conversation. It
asks first, unless --yes is given.`,
		Example: "  ccbot forget api\n  ccbot forget --yes api --json",
		RunE:    func(cmd *cobra.Command, args []string) error { return c.forget(cmd, args[0], yes) }}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask; needs the whole name or id")
	return cmd
}

// forget asks for confirmation first, unless the answer is yes already.
func (c *call) forget(cmd *cobra.Command, what string, yes bool) error {
	d, err := offline.Open(c.environ, c.stderr)
	if err != nil {
		return err
	}
	r, err := d.RecordToForget(what)
	if err != nil {
		return err
	}
	words := d.Words()
	if !archive.MayForget(r, d.Table.Liveness) {
		return offline.Sentence(offline.NotEnded(words, offline.Agents(d.Config), r))
	}
	if yes && !strings.EqualFold(r.Name, what) && r.ID.String() != what {
		return fmt.Errorf("%q may be %s (%s): without a question the whole name or id is needed", what, terminal.Printable(r.Name), r.ID)
	}
	did := forgottenSession{ID: r.ID, Name: r.Name}
	stays := cmp.Or(offline.Agents(d.Config).Of(r.AgentName).Product, "Claude Code") + " has no conversation file of it"
	cursor, _ := r.Cursor()
	// without a prompt the agent has written none
	if _, err := os.Lstat(cursor.Path); err == nil {
		did.Stays = cursor.Path
		stays = words.Say(i18n.ForgetStays, i18n.Args{"Path": cursor.Path})
	}
	fmt.Fprintf(c.stderr, "%s  %s  %s, in %s\n%s\n", terminal.Printable(r.Name), r.ID, r.State, terminal.Printable(r.Dir), stays)
	if !yes {
		err = c.confirm(cmd, words.Say(i18n.ForgetConfirm, i18n.Args{"Name": r.Name}))
	}
	if err == nil {
		_, _, err = running.Forgetting.Make(cmd.Context(), c.environ, c.stderr, running.Forget{Session: r.ID})
	}
	if err != nil {
		return err
	}
	return c.show(did, func(p *terminal.Printer) { p.Line("%s", words.Say(i18n.Forgotten, i18n.Args{"Name": r.Name})) })
}
