package ending

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/tmux"
)

// Processes reads the process table, and ends or continues processes that are proven.
type Processes interface {
	evidence.Processes
	End(ctx context.Context, id process.Identity, prove func(process.Process) error,
		hangUp func(context.Context) error, g process.Grace) (process.Outcome, error)
	Continue(id process.Identity, prove func(process.Process) error) error
}

// Panes lists panes, and closes a pane that is proven by its guard.
type Panes interface {
	Panes(ctx context.Context) ([]tmux.Pane, error)
	ClosePane(ctx context.Context, g tmux.Guard) error
}

// Ender ends processes of sessions.
type Ender struct {
	Processes Processes
	Panes     Panes
	Evidence  *evidence.Sources
	KillGrace time.Duration // from the hang-up, or without one from TERM, to KILL; at least termAfter
	// Outcome is called for each process to end, with the outcome: hup, term, kill, failed or
	// spared. It must be quick, and may be nil.
	Outcome func(what string)
	Log     *slog.Logger
}

// Of returns the use of the Ender for a session. save puts r on disk. onTools is called after the
// tools below a process are on disk, before the process gets KILL.
func (e *Ender) Of(r *session.Record, save func() error, onTools func()) *Session {
	return &Session{ender: e, r: r, save: save, onTools: onTools}
}

// Session ends processes of one session, in one turn of the session's worker.
type Session struct {
	ender   *Ender
	r       *session.Record
	save    func() error
	onTools func()
	// noted guards r and save while several processes are being ended at the same time. A check of
	// such a process has a copy of r, and reads only r.ID, which never changes.
	noted sync.Mutex
}

// Seen is the last known state of the session's agent and of its pane.
type Seen struct {
	Agent   process.Liveness
	Direct  bool      // the bound process is the agent itself, and no launcher
	Pane    tmux.Pane // living or dead; zero if the bound pane was not found
	Lives   bool      // Pane is the bound one, and its process lives
	Unknown bool      // tmux did not report whether the pane is there
}

// End ends the session's agent, its leftovers and its tools, and closes its pane. Of an agent with
// two processes the one at the terminal ends first, because it may end its server itself; the
// server is a process that the record bound, and ends with the leftovers. The result is added to
// the receipt. End may be called again after a crash at any point.
func (s *Session) End(ctx context.Context, seen Seen, receipt *Receipt) {
	receipt.Adopted = s.r.Binding != nil && s.r.Binding.Adopted && !s.HasMadeAdopted(seen.Pane)
	receipt.Split = !receipt.Adopted && seen.Pane.WindowPanes > 1
	s.bindOwn(ctx, seen)
	s.noteServed(ctx)
	s.endAgent(ctx, seen, receipt)
	ended, failures, err := s.EndLeftovers(ctx)
	if err != nil {
		receipt.fail(FailureProcesses, process.Identity{}, err.Error())
	}
	below, failed := s.EndTools(ctx)
	receipt.Others = append(receipt.Others, append(ended, below...)...)
	receipt.Failures = append(receipt.Failures, append(failures, failed...)...)
}

// moment returns the present time on the kernel's clock, zero if the clock cannot be read.
func (e *Ender) moment() process.Moment {
	now, err := e.Processes.Moment()
	if err != nil {
		return process.Moment{}
	}
	return now
}

// apart returns the session's agent, its server and the reported second writers: they are ended as
// what they are, and never as a tool.
func (s *Session) apart() []process.Identity {
	apart := slices.Clone(s.r.SecondWriters)
	if s.r.Binding != nil {
		apart = append(apart, s.r.Binding.Agent, s.r.Binding.AgentServer)
	}
	return apart
}
