package offline

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/conversation"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/host"
	"ccbot/internal/naming"
	"ccbot/internal/session"
	"ccbot/port"
)

// Find finds the one session that a person means, one that fits where any does.
func (v View) Find(what string, fits func(port.Session) bool) (port.Session, error) {
	book := conversation.Book{Records: host.Views{Agents: Agents(v.Config), Records: v.Store}}
	found := book.Find(session.Conversation{}, 0, what, fits)
	var records []session.Record
	for _, r := range found {
		record, _ := v.Store.Get(r.ID)
		records = append(records, record)
	}
	if _, err := single(what, records, naming.ShortID); err != nil {
		return port.Session{}, err
	}
	return found[0], nil
}

// AnySession fits always.
func AnySession(port.Session) bool { return true }

// Record is the record that a person means, whole.
func (v View) Record(what string) (session.Record, error) {
	r, err := Matches(v.Store.List(), what)
	if err != nil {
		return r, err
	}
	return v.Store.Whole(r.ID)
}

// Matches returns the record that a person means, see package naming; Claude Code's id works as
// well.
func Matches(records []session.Record, what string) (session.Record, error) {
	return single(what, matches(records, what, anyRecord), naming.ShortID)
}

func anyRecord(session.Record) bool { return true }

// matches returns the records that a text may mean. If there are several, it returns only the
// fitting ones.
func matches(records []session.Record, what string, fits func(session.Record) bool) []session.Record {
	named := func(r session.Record) naming.Named {
		return naming.Named{ID: r.ID, Name: r.Name, Former: r.FormerNames, Other: append(slices.Clone(r.EarlierSessionIDs), r.AgentSessionID)}
	}
	return naming.Find(records, what, named, fits)
}

// mostListed is the number of sessions that a question lists: each line is one to read.
const mostListed = 10

// single returns the only element. If several are possible, the error lists the properties that
// distinguish them.
func single(what string, found []session.Record, letters func(uuid.UUID) string) (session.Record, error) {
	switch len(found) {
	case 0:
		return session.Record{}, fmt.Errorf("there is no session %q; `ccbot list --all` shows all there are", what)
	case 1:
		return found[0], nil
	}
	var lines []string
	for _, r := range found {
		lines = append(lines, fmt.Sprintf("  %s  %s, %s, in %s", letters(r.ID), terminal.Printable(r.Name), r.State, terminal.Printable(r.Dir)))
	}
	return session.Record{}, fmt.Errorf("%q may be any of %d sessions; give the letters of one:\n%s", what, len(found), terminal.Some(lines, mostListed))
}

// RecordToForget finds a session by its record, or by the copy of a record that was removed because
// of its age. If a record and a copy have the same name, it returns the record. If several are
// possible, it lists whole ids, which forget accepts.
func (v View) RecordToForget(what string) (session.Record, error) {
	all, broken := Backups(v.Dir).Purged(AgentNames(v.Config))
	present := v.Store.List()
	records := slices.Clone(present)
	for _, p := range all {
		if _, there := v.Store.Get(p.Record.ID); !there {
			records = append(records, p.Record)
		}
	}
	// its record is removed, and its name belongs to another session now
	hidden := func(r session.Record) bool {
		_, there := v.Store.Get(r.ID)
		return !there && slices.ContainsFunc(present, func(p session.Record) bool { return strings.EqualFold(p.Name, r.Name) })
	}
	r, err := single(what, matches(records, what, func(r session.Record) bool { return !hidden(r) }), uuid.UUID.String)
	if err != nil && broken != nil {
		return r, statefolder.Error(v.Dir, broken)
	}
	return r, err
}

// Folder is the folder that a text names, if a session may begin there.
func Folder(ctx context.Context, c config.Config, text string) (string, error) {
	m := host.Machine{Home: host.WithoutLinks(c.Home), Roots: c.RootFolders}
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	dir, err := m.Resolve(ctx, here, text)
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(dir); err == nil && !info.IsDir() {
			err = fmt.Errorf("%s is no folder", dir)
		}
	}
	if err != nil {
		return "", exit.Usage(err)
	}
	return dir, nil
}
