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
	"unicode"

	"github.com/google/uuid"

	"ccbot/internal/session"
)

// openRecords reads the records for a verb that only looks, beside a bot that
// runs or without one. Of what cannot be read it says so on stderr.
func openRecords(dir string, stderr io.Writer) (*session.Store, error) {
	store, err := session.OpenReadOnly(filepath.Join(dir, "sessions"), time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, stateError(dir, err)
	}
	for _, a := range store.Aside() {
		fmt.Fprintln(stderr, "ccbot:", asideText(a))
	}
	return store, nil
}

func asideText(a session.Aside) string {
	if a.Newer {
		return fmt.Sprintf("%s is of a newer ccbot and left alone: %s", a.File, a.Why)
	}
	return fmt.Sprintf("%s cannot be read: %s", a.File, a.Why)
}

// find finds the session that a person means: by its name, by its id or the first
// letters of it, or by Claude Code's id. A record whose conversation another one
// goes on with has lost its name to that; its own id still finds it.
func find(records []session.Record, what string) (session.Record, error) {
	open := func(r session.Record) bool { return r.Closed != session.ClosedTransferred }
	claude, _ := uuid.Parse(what) // Nil is nobody's
	for _, fits := range []func(session.Record) bool{
		func(r session.Record) bool { return r.ID.String() == what },
		func(r session.Record) bool { return open(r) && r.Name == what },
		func(r session.Record) bool { return open(r) && strings.EqualFold(r.Name, what) },
		func(r session.Record) bool { return len(what) >= shortestID && strings.HasPrefix(r.ID.String(), what) },
		func(r session.Record) bool { return open(r) && r.HasClaudeID(claude) },
		func(r session.Record) bool { return strings.EqualFold(r.Name, what) },
	} {
		found := slices.DeleteFunc(slices.Clone(records), func(r session.Record) bool { return !fits(r) })
		switch len(found) {
		case 0:
			continue
		case 1:
			return found[0], nil
		}
		return session.Record{}, severalError(what, found)
	}
	return session.Record{}, fmt.Errorf("there is no session %q; `ccbot list --all` shows all there are", what)
}

// shortestID is how many letters of an id find a session.
const shortestID = 8

// severalError lists what else tells the sessions apart.
func severalError(what string, found []session.Record) error {
	lines := []string{fmt.Sprintf("%q may be any of %d sessions; give the id:", what, len(found))}
	for _, r := range found {
		lines = append(lines, fmt.Sprintf("  %s  %s, %s, in %s", r.ID, printable(r.Name), r.State, printable(r.Dir)))
	}
	return errors.New(strings.Join(lines, "\n"))
}

// shortID is as much of an id as tells two sessions apart that people made: it is
// made of the time, to the millisecond.
func shortID(id uuid.UUID) string { return id.String()[:13] }

// printable is a text of somebody else's for a terminal: nothing in it moves the
// cursor, colours or turns what follows.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
