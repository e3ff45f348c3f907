package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"ccbot/archive"
	"ccbot/bot/chat"
	"ccbot/bot/port/refusal"
	"ccbot/bot/port/views"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/show"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/host"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/recovery"
)

// forgetCall is the body of a forget.
type forgetCall struct {
	Session uuid.UUID `json:"session_id"`
}

// forgottenSession is a session whose record was deleted.
type forgottenSession struct {
	ID    uuid.UUID `json:"id"`
	Name  string    `json:"name"`
	Stays string    `json:"conversation_file,omitempty"` // Claude Code's own, which is kept
}

func forgetCommand(environ []string, stdout, stderr io.Writer) *cobra.Command {
	var yes, asJSON bool
	cmd := &cobra.Command{Use: "forget NAME|ID", Args: oneSession("forget"), Short: "Delete the record of a session that is over, and all copies of it",
		Long: `Delete ccbot's record of a session that is over: from the sessions, from every backup, and from
the records that have left by their age. It cannot be brought back. What the chat keeps of the session goes, too.
Claude Code's own conversation file stays; the command says where. It asks first, unless --yes is given.`,
		Example: "  ccbot forget api\n  ccbot forget --yes api --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			answers := cmd.InOrStdin()
			if yes {
				answers = nil
			}
			return forget(cmd.Context(), environ, args[0], answers, asJSON, stdout, stderr)
		}}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// forget asks for confirmation first, unless answers is nil.
func forget(ctx context.Context, environ []string, what string, answers io.Reader, asJSON bool, stdout, stderr io.Writer) error {
	d, err := openDesk(environ, stderr)
	if err != nil {
		return err
	}
	r, err := d.findToForget(what)
	if err != nil {
		return err
	}
	if !r.State.Over() {
		return sentence(notOver(d.words, r))
	}
	if answers == nil && !strings.EqualFold(r.Name, what) && r.ID.String() != what {
		return fmt.Errorf("%q may be %s (%s): without a question the whole name or id is needed", what, terminal.Printable(r.Name), r.ID)
	}
	did := forgottenSession{ID: r.ID, Name: r.Name}
	stays := "Claude Code has no conversation file of it"
	cursor, _ := r.Cursor()
	if _, err := os.Lstat(cursor.Path); err == nil { // without a prompt Claude Code has written none
		did.Stays = cursor.Path
		stays = d.words.Say(i18n.ForgetStays, i18n.Args{"Path": cursor.Path})
	}
	p := &terminal.Printer{Out: stderr}
	p.Line("%s  %s  %s, in %s\n%s", terminal.Printable(r.Name), r.ID, r.State, terminal.Printable(r.Dir), stays)
	if err := confirm(p, d.words.Say(i18n.ForgetConfirm, i18n.Args{"Name": r.Name}), answers); err != nil {
		return err
	}
	if _, _, err := forgetting.make(ctx, environ, stderr, forgetCall{r.ID}); err != nil {
		return err
	}
	return terminal.Show(stdout, asJSON, did, func(p *terminal.Printer) {
		p.Line("%s", d.words.Say(i18n.Forgotten, i18n.Args{"Name": r.Name}))
	})
}

// notOver is the refusal to forget a session that is not over.
func notOver(p chat.Phrases, r session.Record) error {
	if r.State.Open() {
		return refuse(codeRefused, fmt.Sprintf("%s is open; end it first: ccbot archive %s", r.Name, r.Name))
	}
	return asTheChatSays(p, host.View(r), &refusal.Error{Code: refusal.WrongState, State: views.State(r.State)})
}

// findToForget finds a session by its record, or by the copy of a record that was removed because
// of its age. If a record and a copy have the same name, the record is meant. If several are
// possible, it lists whole ids, which forget accepts.
func (d desk) findToForget(what string) (session.Record, error) {
	all, broken := backupsIn(d.Dir).Purged()
	present := d.store.List()
	records := slices.Clone(present)
	for _, p := range all {
		if _, there := d.store.Get(p.Record.ID); !there {
			records = append(records, p.Record)
		}
	}
	hidden := func(r session.Record) bool { // its record is removed, and its name belongs to another session now
		_, there := d.store.Get(r.ID)
		return !there && slices.ContainsFunc(present, func(p session.Record) bool { return hasName(p) && strings.EqualFold(p.Name, r.Name) })
	}
	found := meant(records, what, func(r session.Record) bool { return hasName(r) && !hidden(r) })
	r, err := theOne(what, found, uuid.UUID.String)
	if err != nil && broken != nil {
		return r, statefolder.Error(d.Dir, broken)
	}
	return r, err
}

// findPurged finds a session among those whose records were removed because of their age.
func findPurged(all []recovery.Purged, what string) (recovery.Purged, error) {
	var records []session.Record
	for _, p := range all {
		records = append(records, p.Record)
	}
	r, err := find(records, what)
	if err != nil {
		return recovery.Purged{}, err
	}
	return all[slices.IndexFunc(all, func(p recovery.Purged) bool { return p.Record.ID == r.ID })], nil
}

// forget deletes the record of a session that is over, and all copies of the record. No backup is
// made at the same time.
func (s *system) forget(ctx context.Context, id uuid.UUID) error {
	s.recovering.Lock()
	defer s.recovering.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, done := s.lasting(ctx)
	defer done()
	return s.keeper.Forget(ctx, id)
}

var forgetting = change[forgetCall, struct{}]{verb: "forget", do: func(ctx context.Context, s *system, body forgetCall) (struct{}, error) {
	if body.Session == uuid.Nil {
		return struct{}{}, refuse(codeMalformed, "not the id of a session")
	}
	err := s.forget(ctx, body.Session)
	if r, there := s.store.Get(body.Session); there && errors.Is(err, archive.ErrNotOver) {
		err = notOver(s.english(), r)
	}
	return struct{}{}, err
}}

// purge removes the records that are due, and reports each.
func (s *system) purge(ctx context.Context) []show.Purge {
	records := s.store.List()
	return purgesOf(s.Config, s.keeper.Purge(ctx), records, time.Now(), "was forgotten", "; `ccbot recover --restore` brings it back for a week")
}

// purgesOf describes records that are due, or were removed because of their age.
func purgesOf(c config.Config, all []archive.Aged, records []session.Record, now time.Time, what, next string) (purges []show.Purge) {
	names := make(map[uuid.UUID]string)
	for _, r := range records {
		names[r.ID] = r.Name
	}
	for _, aged := range all {
		old := now.Sub(aged.Ended)
		purges = append(purges, show.Purge{ID: aged.ID, Name: names[aged.ID], Ended: aged.Ended, Age: old.Seconds(),
			Why: fmt.Sprintf("%s: ended %s ago (ARCHIVE_PURGE_AFTER %s)%s", what, terminal.Age(old), terminal.Age(c.PurgeAfter), next)})
	}
	return purges
}
