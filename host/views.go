package host

import (
	"github.com/google/uuid"

	"ccbot/bot/port/talk"
	"ccbot/bot/port/views"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// Views shows the records of this machine to the chat.
type Views struct {
	Records interface {
		AllRecords
		// Whole returns a session with its history.
		Whole(id uuid.UUID) (session.Record, error)
	}
}

// AllRecords reads the existing sessions.
type AllRecords interface {
	Records
	// Shared returns all sessions, oldest first. They must not be changed.
	Shared() []session.Record
}

// Get gives one session.
func (v Views) Get(id uuid.UUID) (views.Session, bool) {
	r, ok := v.Records.Get(id)
	return View(r), ok
}

// List gives all sessions, oldest first.
func (v Views) List() []views.Session {
	records := v.Records.Shared()
	all := make([]views.Session, 0, len(records))
	for _, r := range records {
		all = append(all, View(r))
	}
	return all
}

// History returns the changes of a session, oldest first.
func (v Views) History(id uuid.UUID) (all []views.Change, err error) {
	r, err := v.Records.Whole(id)
	for _, c := range r.History {
		all = append(all, views.Change{At: c.At, From: views.State(c.From), To: views.State(c.To), Rule: string(c.Rule), Why: c.Why})
	}
	return all, err
}

// View is a record as the chat sees it.
func View(r session.Record) views.Session {
	s := views.Session{
		ID: r.ID, Name: r.Name, FormerNames: r.FormerNames, Dir: r.Dir, State: views.State(r.State), Live: r.State.Live(),
		Open: r.State.Open(), Over: r.State.Over(), Resumable: r.Resumable(),
		Owns: r.Owns(), Interrupted: r.Interrupted(), ClaudeSessionID: r.ClaudeSessionID, ForkOf: r.ForkOf, TookOver: r.TookOver,
		Conversation: r.Conversation, Owner: r.Owner, Origin: r.Origin, Final: views.State(r.Final),
		Closed: views.Closed(r.Closed), Prompts: r.Prompts, Unreported: r.Unreported,
		CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, EndedAt: r.EndedAt,
		Now: lifecycle.Noted(r), NowSince: r.PhaseAt,
	}
	if r.Launch != nil {
		s.Mode = r.Launch.PermissionMode
	}
	for _, c := range r.Cursors {
		s.Cursors = append(s.Cursors, talk.Cursor(c))
	}
	if b := r.Binding; b != nil {
		s.Window, s.Agent, s.Shared = b.Window, b.Agent.Text(), b.Shell != 0
	}
	if e := r.Exit; e != nil {
		s.Exit = &views.Exit{Status: e.Status, Signal: e.Signal, Crashed: e.Crashed()}
	}
	if i := r.Unfinished(); i != nil {
		s.Interruption = &views.Interruption{Prompt: r.ContinueID(), Step: i.Step, Done: i.Done, Tasks: i.Tasks,
			Waited: i.Waited, Alone: lifecycle.ContinuesAlone(r)}
	}
	if c := r.Cleanup; c != nil {
		for _, f := range c.Failures {
			detail := lifecycle.Failure{ID: process.Identity{PID: f.PID}, Detail: f.Detail}.String()
			s.Failures = append(s.Failures, views.Failure{Kind: f.Kind, PID: f.PID, Detail: detail})
		}
	}
	return s
}
