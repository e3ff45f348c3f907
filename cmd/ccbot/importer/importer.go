package importer

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/agent/claude/transcript"
	"ccbot/agent/jsonl"
	"ccbot/bot/chat"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/naming"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/port/talk"
)

// Importer holds the facts about this ccbot for the decisions.
type Importer struct {
	offline.View
	Host    string
	Sources *evidence.Sources
	Owner   int64 // gets the sessions without a known person; 0: no person
}

// Session is a session of the Python ccbot, with the decision about it.
type Session struct {
	Name         string         `json:"name,omitempty"`        // of its record, if there is one
	Former       string         `json:"former_name,omitempty"` // if the record has another
	Dir          string         `json:"dir,omitempty"`
	Conversation uuid.UUID      `json:"claude_session_id,omitzero"`
	Left         string         `json:"left,omitempty"` // why there is no record
	Record       session.Record `json:"-"`
}

// Report is the output of `ccbot import --json`.
type Report struct {
	Made     bool      `json:"made"` // else the records would be made with --yes
	Sessions []Session `json:"sessions"`
}

// Plan decides about each session.
func (i Importer) Plan(ctx context.Context, all []PythonSession, now time.Time) (r Report) {
	known, taken := make(map[uuid.UUID]bool), make(map[string]bool)
	for _, r := range i.Store.List() {
		for _, id := range append(slices.Clone(r.EarlierSessionIDs), r.AgentSessionID) {
			known[id] = true
		}
		taken[r.Name] = taken[r.Name] || r.State.Live() || r.State.HasEnded()
	}
	r.Sessions = []Session{}
	for _, f := range all {
		s := Session{Name: f.Name, Dir: f.Dir}
		record, why := i.record(ctx, f, known, now)
		if s.Left = why; why == "" {
			record.Name = naming.Free(record.Name, taken)
			if record.Name != f.Name {
				s.Former = f.Name
			}
			s.Name, s.Dir, s.Conversation, s.Record = record.Name, record.Dir, record.AgentSessionID, record
			known[record.AgentSessionID], taken[record.Name] = true, true
		}
		r.Sessions = append(r.Sessions, s)
	}
	return r
}

// record makes the record of a session, or returns the reason why it must not.
func (i Importer) record(ctx context.Context, f PythonSession, known map[uuid.UUID]bool, now time.Time) (r session.Record, why string) {
	id, err := uuid.Parse(f.ClaudeID)
	switch {
	case cmp.Or(f.Backend, "claude") != "claude":
		return r, "it is of " + f.Backend + ", not of Claude Code"
	case f.ClaudeID == "" || id == uuid.Nil && err == nil:
		return r, "its conversation is not known"
	case err != nil:
		return r, fmt.Sprintf("%q is not an id of a Claude Code conversation", f.ClaudeID)
	case known[id]:
		return r, "its conversation is known already"
	case !filepath.IsAbs(f.Dir):
		return r, "its folder is not known"
	}
	dir, err := offline.Folder(ctx, i.Config, f.Dir)
	if err != nil {
		return r, "its folder cannot be used: " + terminal.Plain(err)
	}
	person := cmp.Or(f.person, i.Owner)
	if person == 0 && len(i.AllowedUsers) == 1 {
		person = i.AllowedUsers[0]
	}
	switch {
	case person == 0:
		return r, "no person is known for it; --owner names one"
	case !slices.Contains(i.AllowedUsers, person):
		return r, fmt.Sprintf("it is of %d, who is not in ALLOWED_USERS", person)
	}
	path, err := transcript.Find(i.ProjectsDir(), id)
	if err != nil {
		return r, "its conversation is not found: " + err.Error()
	}
	end, err := jsonl.End(path)
	if err != nil {
		return r, err.Error()
	}
	if written, err := i.Sources.Written(ctx, id); err != nil || written[id] {
		return r, "another process writes its conversation, or may: end that first"
	}
	r = session.Record{Version: session.Version, ID: uuid.Must(uuid.NewV7()), Name: cmp.Or(chat.NameOf(f.Name), filepath.Base(dir)), Dir: dir,
		Host: i.Host, State: session.Archived, AgentSessionID: id, Conversation: session.Conversation{ChatID: person}, Owner: person,
		Cursors: []talk.Cursor{end}, CreatedAt: now, UpdatedAt: now, LastEnd: session.LastEnd{EndedAt: now, TranscriptEnd: end.Offset}}
	r.Note(now, "import", "taken over from the Python ccbot")
	return r, ""
}

// Records returns the records to make.
func (r Report) Records() (all []session.Record) {
	for _, s := range r.Sessions {
		if s.Left == "" {
			all = append(all, s.Record)
		}
	}
	return all
}

// Print prints a report for people.
func (r Report) Print(p *terminal.Printer) {
	for _, s := range r.Sessions {
		name, dir := terminal.Printable(cmp.Or(s.Name, "?")), terminal.Printable(s.Dir)
		switch {
		case s.Left != "":
			p.Line("left    %s  %s: %s", name, dir, terminal.Printable(s.Left))
		case s.Former != "":
			p.Line("import  %s  %s, which was called %s", name, dir, terminal.Printable(s.Former))
		default:
			p.Line("import  %s  %s", name, dir)
		}
	}
	switch n := len(r.Records()); {
	case n == 0:
		p.Line("there is nothing to import")
	case r.Made:
		p.Line("%s made; start ccbot, then /archive and /resume have them", terminal.Several(n, "record"))
	default:
		p.Line("nothing was changed: --yes makes %s", terminal.Several(n, "record"))
	}
}
