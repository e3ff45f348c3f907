package host

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/internal/clip"
	"ccbot/internal/each"
	"ccbot/internal/git"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/talk"
)

// Views shows the records of this machine to the chat.
type Views struct {
	Agents  agent.Agents
	Records interface {
		AllRecords
		// Whole returns a session with its history.
		Whole(id uuid.UUID) (session.Record, error)
	}
	// Attach returns the command that shows a session in a terminal. nil: it is unknown.
	Attach func(r session.Record) string
	// Looped returns the live loop of a session. A session with a loop never continues by itself: its
	// loop, or a person, decides what is sent next. nil: none has.
	Looped func(id uuid.UUID) *port.Loop
	// Scheduled returns the time of a session's next scheduled prompt; zero: none is. nil: none has.
	Scheduled func(id uuid.UUID) time.Time
	// MayForget reports whether the record may be forgotten, see archive.MayForget. nil: as the state says.
	MayForget func(r session.Record) bool
}

// AllRecords reads the existing sessions.
type AllRecords interface {
	Records
	// Shared returns all sessions, oldest first. They must not be changed.
	Shared() []session.Record
}

// Get returns one session.
func (v Views) Get(id uuid.UUID) (port.Session, bool) {
	r, ok := v.Records.Get(id)
	return v.view(r), ok
}

// List returns all sessions, oldest first.
func (v Views) List() ([]port.Session, error) {
	return each.As(v.Records.Shared(), v.view), nil
}

func (v Views) view(r session.Record) port.Session {
	s := View(v.Agents, r)
	if v.Attach != nil {
		s.Attach = v.Attach(r)
	}
	if v.Looped != nil {
		s.Loop = v.Looped(r.ID)
	}
	if v.Scheduled != nil {
		s.Scheduled = v.Scheduled(r.ID)
	}
	s.Forgettable = r.State == session.CleanupFailed && v.MayForget != nil && v.MayForget(r)
	if s.Interruption != nil && s.Interruption.Alone && s.Loop != nil {
		s.Interruption.Alone = false
	}
	return s
}

// History returns the changes of a session, oldest first.
func (v Views) History(_ context.Context, id uuid.UUID) ([]port.Change, error) {
	r, err := v.Records.Whole(id)
	return r.History, err
}

// View is a record as the chat sees it.
func View(agents agent.Agents, r session.Record) port.Session {
	s := port.Session{
		ID: r.ID, Name: r.Name, FormerNames: r.FormerNames, Dir: r.Folder(), Start: r.Dir, State: r.State, Resumable: r.State.HasEnded(),
		Owns: r.Owns(), Interrupted: r.Interrupted(), AgentSessionID: r.AgentSessionID, ForkOf: r.ForkOf,
		Conversation: r.Conversation, TakesPlaces: true, Terms: r.Terms, Owner: r.Owner, Origin: r.Origin, Final: r.Final,
		Closed: port.Closed(r.ClosedReason), Cursors: r.Cursors, Earlier: r.Earlier, Next: r.Next, Turns: r.Turns(), CountsTurns: true, Prompts: r.Prompts, IdleAfter: r.IdleAfter, Budget: r.Budget, Unreported: r.Unreported,
		News: r.LastNews, CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, EndedAt: r.EndedAt,
		Now: view.Noted(r), NowSince: r.PhaseAt, Can: agents.Of(r.AgentName).Abilities,
	}
	var launch session.Launch
	one := agents.Of(r.AgentName)
	s.Product, s.Reachable = one.Product, one.Reachable
	by := one.Starter
	if r.Launch != nil {
		launch = *r.Launch
	}
	s.Mode = r.LaunchMode()
	s.Bypasses = by.Bypasses(launch, r.Progress.PermissionMode)
	if b := r.Binding; b != nil {
		s.Window, s.Agent, s.Shared = b.Window, b.Agent.Text(), b.Shell != 0
	}
	if e := r.Exit; e != nil {
		s.Exit = &port.Exit{Status: e.Status, Signal: e.Signal, Crashed: e.Crashed()}
	}
	if i := r.Unfinished(); i != nil {
		s.Interruption = &port.Interruption{Prompt: r.ContinueID(), Step: i.Step, Done: i.TasksDone, Tasks: i.TasksTotal,
			Waited: i.Waited, Alone: lifecycle.ContinuesAlone(r, by)}
	}
	if c := r.Cleanup; c != nil {
		for _, f := range c.Failures {
			detail := ending.Failure{ID: process.Identity{PID: f.PID}, Detail: f.Detail}.String()
			s.Failures = append(s.Failures, port.Failure{Kind: f.Kind, PID: f.PID, Detail: detail})
		}
	}
	return s
}

// Work returns what the agent of a session has done.
func (s Sessions) Work(ctx context.Context, id uuid.UUID) (w port.Work, err error) {
	r, ok := s.Records.Get(id)
	if !ok {
		return port.Work{}, nil
	}
	w = s.brief(r)
	if InRoots(s.Roots, r.Folder()) {
		w.Git = gitOf(ctx, s.Git, r)
	} else {
		w.Git = &port.Git{Outside: true}
	}
	if s.Memory != nil && r.State.Live() {
		w.Memory = s.Memory(ctx, s.Observer.PIDs(ctx, r)...)
	}
	return w, nil
}

// Brief is Work without what git and the kernel say.
func (s Sessions) Brief(_ context.Context, id uuid.UUID) (w port.Work, err error) {
	if r, ok := s.Records.Get(id); ok {
		w = s.brief(r)
	}
	return w, nil
}

func (s Sessions) brief(r session.Record) port.Work {
	p, written := r.Progress, s.Agents.Of(r.AgentName).Transcripts
	path := p.Path
	// Otherwise it is the transcript before a /clear.
	if c, ok := r.Cursor(); ok && written.Sibling(c.Path, r.AgentSessionID) == c.Path {
		path = c.Path
	}
	// On an error the values in the record, as of the last change of the phase, are better than
	// nothing.
	p, err := written.Advance(p, path)
	w := port.Work{Phase: talk.Phase(r.Phase), PhaseAt: r.PhaseAt, Model: p.Model, Permissions: p.PermissionMode, Turns: p.Turns,
		Tokens: p.Tokens, Tasks: p.Tasks, Partly: p.From > 0}
	if w.Failed.Phase = talk.PhaseUnknown; err == nil && path != "" && p.Path == path {
		w.Failed = view.After(p.Failed)
	}
	if l := r.Launch; l != nil {
		w.Flags = l.Flags
	}
	if r.InAuto { // the transcript has the mode that was asked for
		w.Permissions = string(port.ModeAuto)
	}
	if w.Usage = s.usage(r); w.Usage != nil {
		w.Model = cmp.Or(w.Usage.Model, w.Model)
	}
	return w
}

// Usage returns the last usage in the agent's status line, or nil if it is unknown.
func (s Sessions) Usage(_ context.Context, id uuid.UUID) (*port.Usage, error) {
	r, _ := s.Records.Get(id)
	return s.usage(r), nil
}

func (s Sessions) usage(r session.Record) *port.Usage {
	u := r.Usage
	if r.State.Live() {
		u = cmp.Or(s.Observer.Usage(r), u)
	}
	return u
}

// maxQuestion bounds what is shown of a prompt, in letters.
const maxQuestion = 1000

// lastQuestion is the beginning of the last prompt in a transcript; empty: none was found.
func lastQuestion(ctx context.Context, by agent.Proof, path string) string {
	return clip.Runes(by.LastPrompt(ctx, path), maxQuestion)
}

// gitOf asks git about a session's folder; nil where git does not answer.
func gitOf(ctx context.Context, look func(ctx context.Context, dir, since string) (*git.State, *git.Changes, error), r session.Record) *port.Git {
	if look == nil {
		return nil
	}
	start := ""
	if r.GitStart != nil {
		start = r.GitStart.Head
	}
	state, changes, err := look(ctx, r.Folder(), start)
	switch {
	case state == nil && err != nil:
		return nil
	case state == nil:
		return &port.Git{}
	}
	g := &port.Git{Root: state.Root, Branch: state.Branch, Head: state.Head, Dirty: state.Dirty, At: state.At, Start: start}
	if changes != nil {
		shown := port.Changes(*changes)
		g.Changes = &shown
	}
	return g
}
