package evidence

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/agent/witness"
	"ccbot/hooks"
	"ccbot/internal/hookwire"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/port/refusal"
	"ccbot/tmux"
)

// ErrUnreadable means that it cannot be read which processes write a conversation.
var ErrUnreadable = refusal.New(refusal.NoEvidence, "look for writers")

// Contradiction is how long two pieces of evidence may contradict each other: /clear and /resume
// reach the presence file and the hooks one after the other.
const Contradiction = 2 * time.Second

// Sources are the inputs of evidence.
type Sources struct {
	Instance  string // random id of this ccbot, part of every window's tag
	Agents    agent.Agents
	Records   Records
	Processes Processes
	Bindings  func() ([]hookwire.Binding, []error)           // the records of hooks: which process has which conversation
	Panes     func(ctx context.Context) ([]tmux.Pane, error) // only used to show where a writer runs
	Log       *slog.Logger
}

// StartedFor reports whether the command line of a process names the session's conversation, as the
// session's agent reads it, and no other.
func (s *Sources) StartedFor(r session.Record, p process.Process) bool {
	by := s.Agents.Of(r.AgentName).Witness
	return process.AgentNames{Conversations: by.Conversations}.StartedFor(p, r.AgentSessionID)
}

// AgentName returns the name of the agent that a process runs, "" for the default agent.
func (s *Sources) AgentName(p process.Process) string {
	for name, one := range s.Agents {
		if name != agent.Default && process.IsAgent(p, process.AgentNames{Names: one.Witness.Names()}) {
			return name
		}
	}
	return ""
}

// conversations returns the conversations that a command line names, as any agent reads it.
func (s *Sources) conversations(args []string) (all []uuid.UUID) {
	for _, one := range s.Agents {
		all = append(all, one.Witness.Conversations(args)...)
	}
	return all
}

// Names reports with nil that the presence file of a process names a conversation; name is of the
// process's coding agent. Only this file proves it, because a program below the agent can forge the
// files and the calls of hooks. The other errors are hooks.ErrContradicted and hooks.ErrNotNamed.
func (s *Sources) Names(ctx context.Context, name string, who process.Identity, conversation uuid.UUID) error {
	f, err := s.Agents.Of(name).Presence(ctx, who.PID)
	switch {
	case err != nil, f.ProcStart != who.Start:
		return hooks.ErrNotNamed
	case f.SessionID != conversation:
		return hooks.ErrContradicted
	}
	return nil
}

// Named is Names for a call that waits: a contradiction may last as long as Contradiction. Without
// a readable presence file the conversation of the agent's session is the right one.
func (s *Sources) Named(ctx context.Context, above Above, conversation uuid.UUID) error {
	const tries = 8
	for try := 0; ; try++ {
		err := s.Names(ctx, above.AgentName, above.Agent, conversation)
		if errors.Is(err, hooks.ErrNotNamed) && slices.ContainsFunc(s.Records.Shared(), func(r session.Record) bool {
			return r.State.Live() && r.HasAgent(above.Agent) && r.AgentSessionID == conversation
		}) {
			return nil
		}
		if err == nil || try == tries {
			return err
		}
		if err := pause.For(ctx, Contradiction/tries); err != nil {
			return err
		}
	}
}

// Records returns all sessions. Callers must not change them.
type Records interface{ Shared() []session.Record }

// Processes reads the process table.
type Processes interface {
	Self() process.Identity
	// Moment returns the present time on the kernel's clock.
	Moment() (process.Moment, error)
	Inspect(pid int) (process.Process, error)
	Snapshot(ctx context.Context) (process.Snapshot, error)
	Liveness(id process.Identity) process.Liveness
}

// Settled reads which processes write a conversation, or may write it. If the evidence contradicts
// itself, it is read again, at most for the time Contradiction.
func (s *Sources) Settled(ctx context.Context, conversation uuid.UUID) (*Evidence, error) {
	const tries = 8
	for try := 0; ; try++ {
		e, err := s.Read(ctx, conversation)
		contradicts := func(v process.Verdict) bool { return v.Writer == process.Maybe }
		if err != nil || try == tries || !slices.ContainsFunc(e.Verdicts, contradicts) {
			return e, err
		}
		if err := pause.For(ctx, Contradiction/tries); err != nil {
			return nil, err
		}
	}
}

// Read returns which processes write some conversations, or may write them.
func (s *Sources) Read(ctx context.Context, conversations ...uuid.UUID) (*Evidence, error) {
	e, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	e.judge(conversations...)
	return e, nil
}

// read reads everything once. Evidence that cannot be read does not prove absence: the process that
// it is about may be a writer.
func (s *Sources) read(ctx context.Context) (*Evidence, error) {
	table, err := s.Processes.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	e := s.Of(table)
	for _, one := range s.Agents {
		if err == nil && one.Presences != nil {
			err = e.readPresences(ctx, one.Presences)
		}
		if err == nil && one.Locks != nil {
			e.readLocks(one)
		}
	}
	if err == nil {
		err = e.readBindings()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return e, nil
}

// Of returns the evidence of a process table alone, which suffices to find the guards of a process.
func (s *Sources) Of(table process.Snapshot) *Evidence {
	e := &Evidence{Table: table, from: s, records: s.Records.Shared(), bound: make(map[process.Identity][]session.Record)}
	e.agents = s.agents(e.records)
	e.agents.Untrusted = e.untrusted
	e.guards = process.StandardGuards(s.Processes.Self(), e.agents)
	for _, r := range e.records {
		if r.Binding != nil {
			e.bound[r.Binding.Agent] = append(e.bound[r.Binding.Agent], r)
			if server := r.Binding.AgentServer; server.Valid() {
				e.bound[server] = append(e.bound[server], r)
			}
		}
	}
	return e
}

// agents returns what distinguishes the processes of agents: besides the names of the known agents,
// the executables that bound agents were seen to run.
func (s *Sources) agents(records []session.Record) process.AgentNames {
	names := process.AgentNames{Conversations: s.conversations}
	for _, one := range s.Agents {
		names.Names = append(names.Names, one.Witness.Names()...)
	}
	for _, r := range records {
		if r.Exe != "" && !slices.Contains(names.Exes, r.Exe) {
			names.Exes = append(names.Exes, r.Exe)
		}
	}
	return names
}

// Tag returns the mark that a window of the session carries.
func (s *Sources) Tag(id uuid.UUID) string { return s.Instance + "/" + id.String() }

// Ours reports whether a window carries this instance's tag.
func (s *Sources) Ours(p tmux.Pane) bool { return strings.HasPrefix(p.Tag, s.Instance+"/") }

// Living returns the processes that are not proven gone. It leaves out incomplete identities: such
// a process ended before it could be identified.
func (s *Sources) Living(who []process.Identity) []process.Identity {
	return slices.DeleteFunc(slices.Clone(who), func(id process.Identity) bool {
		return !id.Valid() || s.Processes.Liveness(id) == process.Gone
	})
}

// PresencesOf returns the presence files that the agents have of a pid. The error is about a file
// that exists and could not be read.
func (s *Sources) PresencesOf(ctx context.Context, pid int) (files []witness.Presence, err error) {
	for _, one := range s.Agents {
		f, failed := one.Presence(ctx, pid)
		switch {
		case failed == nil:
			files = append(files, f)
		case !errors.Is(failed, fs.ErrNotExist):
			err = failed
		}
	}
	return files, err
}

// readPresences adds what the presence files of one agent say. A file of a process that is gone, or
// of an earlier process with the same pid, matches nothing in the table. An error is about the
// folder: then nothing is known of any process.
func (e *Evidence) readPresences(ctx context.Context, from witness.Presences) error {
	files, unread, err := from.List(ctx)
	if err != nil {
		return err
	}
	for _, f := range files {
		if p, ok := e.Table.Find(f.PID); ok {
			if f.ProcStart != p.Start && e.from.otherClock(p.Identity) {
				e.doubt(f.PID, process.SourcePresence, errOtherClock)
			}
			id := process.Identity{PID: f.PID, Start: f.ProcStart, Boot: p.Boot}
			e.claims = append(e.claims, process.Claim{Process: id, SessionID: f.SessionID, Source: process.SourcePresence})
		}
	}
	for _, pid := range slices.Sorted(maps.Keys(unread)) {
		// Otherwise the file is of an earlier process with the same pid, or of a process of another
		// machine.
		p, ok := e.Table.Find(pid)
		if !ok {
			continue
		}
		if seen, err := e.from.Processes.Inspect(p.PID); err == nil && seen.Identity == p.Identity {
			p = seen // this reading includes the executable
		}
		if process.IsAgent(p, e.agents) {
			e.doubt(pid, process.SourcePresence, unread[pid])
		}
	}
	return nil
}

// readLocks adds which processes hold locks. A process that began after the table was read is seen
// the next time. If the locks cannot be read, it is unknown what the agent's processes write.
func (e *Evidence) readLocks(one agent.Agent) {
	held, err := one.Locks.Held()
	if err != nil {
		for _, p := range e.Table.Processes {
			if process.IsAgent(p, process.AgentNames{Names: one.Witness.Names()}) {
				e.doubt(p.PID, process.SourceLock, err)
			}
		}
	}
	for _, pid := range slices.Sorted(maps.Keys(held)) {
		p, ok := e.Table.Find(pid)
		for _, id := range held[pid] {
			if ok {
				e.claims = append(e.claims, process.Claim{Process: p.Identity, SessionID: id, Source: process.SourceLock})
			}
		}
	}
}

// errOtherClock means that a process noted its start by a clock that is not ccbot's.
var errOtherClock = errors.New("the process is in another time namespace: its start cannot be compared")

// otherClock reports whether the process reads start times by another clock than ccbot.
func (s *Sources) otherClock(id process.Identity) bool {
	p, err := s.Processes.Inspect(id.PID)
	return err == nil && p.Identity == id && p.OtherClock
}

// readBindings adds what hooks have recorded.
func (e *Evidence) readBindings() error {
	bindings, errs := e.from.Bindings()
	for _, b := range bindings {
		id, err := uuid.Parse(b.SessionID)
		if err != nil {
			errs = append(errs, &hooks.BindingError{Name: b.Name(), PID: b.PID, Start: b.Start, Boot: b.Boot, Err: err})
			continue
		}
		e.claims = append(e.claims, process.Claim{SessionID: id, Source: process.SourceHook,
			Process: process.Identity{PID: b.PID, Start: b.Start, Boot: b.Boot}})
	}
	for _, err := range errs {
		unreadable := (*hooks.BindingError)(nil)
		if !errors.As(err, &unreadable) {
			return err
		}
		if p, ok := e.Table.Find(unreadable.PID); ok && p.Start == unreadable.Start && p.Boot == unreadable.Boot {
			e.doubt(unreadable.PID, process.SourceHook, err)
		}
	}
	return nil
}

// doubt notes that a piece of evidence about a process exists but cannot be read.
func (e *Evidence) doubt(pid int, source process.Source, err error) {
	e.from.Log.Warn("evidence_unreadable", logkey.Error, err)
	e.doubts = append(e.doubts, process.Claim{Process: process.Identity{PID: pid}, Source: source})
}
