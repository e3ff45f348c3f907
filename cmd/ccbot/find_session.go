package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/naming"
	"ccbot/internal/session"
)

// openRecords reads the records for a verb that only looks, with or without a running bot. It names
// the records that it cannot read on stderr.
func openRecords(dir string, stderr io.Writer) (*session.Store, error) {
	store, err := session.OpenReadOnly(filepath.Join(dir, "sessions"), time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, statefolder.Error(dir, err)
	}
	for _, a := range store.Aside() {
		fmt.Fprintln(stderr, "ccbot:", asideText(a))
	}
	return store, nil
}

// openForReading is the first step of every verb that only looks.
func openForReading(environ []string, stderr io.Writer) (config.Config, *session.Store, error) {
	c, err := config.LoadForReading(environ)
	if err != nil {
		return config.Config{}, nil, err
	}
	store, err := openRecords(c.Dir, stderr)
	return c, store, err
}

func asideText(a session.Aside) string {
	if a.Newer {
		return fmt.Sprintf("%s is of a newer ccbot and left alone: %s", a.File, a.Why)
	}
	return fmt.Sprintf("%s cannot be read: %s", a.File, a.Why)
}

// find finds the session that a person means, see package naming; Claude Code's id works, too. A
// record whose conversation goes on in another record has lost its name to that record; its own id
// still finds it.
func find(records []session.Record, what string) (session.Record, error) {
	return theOne(what, meant(records, what, hasName), naming.ShortID)
}

func hasName(r session.Record) bool { return !r.HandedOver() }

// meant returns the records that a text may mean. If there are several, it returns those of them
// that fit.
func meant(records []session.Record, what string, fits func(session.Record) bool) []session.Record {
	named := func(r session.Record) naming.Named {
		return naming.Named{ID: r.ID, Name: r.Name, Former: r.FormerNames, Other: append(slices.Clone(r.EarlierClaudeIDs), r.ClaudeSessionID)}
	}
	return naming.Find(records, what, named, fits)
}

// theOne is the one record that is meant. If several are possible, the error lists the properties
// that distinguish them.
func theOne(what string, found []session.Record, letters func(uuid.UUID) string) (session.Record, error) {
	switch len(found) {
	case 0:
		return session.Record{}, fmt.Errorf("there is no session %q; `ccbot list --all` shows all there are", what)
	case 1:
		return found[0], nil
	}
	lines := []string{fmt.Sprintf("%q may be any of %d sessions; give the letters of one:", what, len(found))}
	for _, r := range found {
		lines = append(lines, fmt.Sprintf("  %s  %s, %s, in %s", letters(r.ID), terminal.Printable(r.Name), r.State, terminal.Printable(r.Dir)))
	}
	return session.Record{}, errors.New(strings.Join(lines, "\n"))
}
