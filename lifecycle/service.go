package lifecycle

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/internal/git"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/tmux"
)

// Config is what a launch looks like and how patient an archive is.
type Config struct {
	Host     string   // name of this machine
	StateDir string   // $CCBOT_DIR
	Command  string   // Claude Code: a name on PATH or a path
	Flags    []string // CLAUDE_FLAGS
	// PermissionMode is ccbot's own: ask or bypass.
	PermissionMode string
	Env            map[string]string // variables a launch gets
	Unset          []string          // variables a launch must not inherit

	KillGrace time.Duration
	// OrphanGrace protects what was started a moment ago: for so long the window of
	// a launch is looked for, and nothing of a session that has just ended is ended.
	OrphanGrace time.Duration
	// LastThere is when the ccbot before this one was last there, give or take a minute; zero: not known.
	LastThere time.Time
}

// Deps are the effects a Service works with.
type Deps struct {
	Store     *session.Store
	Tmux      Tmux
	Processes Processes
	Evidence  *evidence.Sources
	Observer  *Observer
	Launches  Launches
	Prompts   Prompts
	News      News
	// Unheard says whether an event of a launch lies on disk that was not heard yet. It may be nil.
	Unheard func(recordID uuid.UUID) (bool, error)
	// Git tells the state of the repository that a directory is in; nil: it is in
	// none. It may be nil, and it may take its time.
	Git func(ctx context.Context, dir string) (*git.State, error)
	// Came is asked before a writer is told that has come to the conversation of a
	// session whose own agent is gone, in a window of its own: handled says that the
	// session has moved there, and nothing is told. It may be nil.
	Came  func(ctx context.Context, w evidence.Writer) (handled bool)
	Hears Hears
	Now   func() time.Time
	Log   *slog.Logger
	// Failpoint is called at each persisted step with its name. It is nil but
	// in programs built to die there.
	Failpoint func(name string)
}

// Hears are functions that hear of something at once, beside News. They must be quick.
type Hears struct {
	// Lost is called when a session was lost together with its tmux server, quietly:
	// the others are in a moment, and the chat is told of all of them at once.
	// nil: each is told for itself.
	Lost func()
	// Outcome hears of each process that was to end what became of it: hup, term, kill,
	// failed or spared. It may be nil.
	Outcome func(what string)
}

// Service runs the lives of all sessions: its verbs, and the steps that are taken
// meanwhile.
type Service struct{ kit *kit }

// kit is what a turn of a session's worker works with.
type kit struct {
	Config
	Deps
	agenda   *agenda
	memories *memories
}

// New returns a Service; Run makes it work.
func New(c Config, d Deps) *Service {
	return &Service{&kit{Config: c, Deps: d, agenda: newAgenda(), memories: &memories{of: make(map[uuid.UUID]memory)}}}
}

// Run takes steps and watches agents until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.noticeRegularly(ctx) })
	s.wakeUnfinished()
	a := s.kit.agenda
	for {
		steps, watches, strangers, gits := a.take()
		for _, id := range steps {
			g.Go(func() error { s.run(ctx, id); return nil })
		}
		for _, w := range watches {
			g.Go(func() error { s.watch(ctx, w); return nil })
		}
		if len(strangers) > 0 {
			g.Go(func() error { s.notice(ctx, strangers); return nil })
		}
		if len(gits) > 0 {
			g.Go(func() error { s.lookAtGits(ctx, gits); return nil })
		}
		select {
		case <-ctx.Done():
			defer a.stopTimers() // when no step sets one any more
			return errors.Join(g.Wait(), ctx.Err())
		case <-a.wakes:
		}
	}
}

// Wake asks for a step of a session: something about it may have changed.
func (s *Service) Wake(id uuid.UUID) { s.kit.agenda.wake(id) }

// WakeAll asks for a step of every live session; tmux or the presence folder
// says that something changed, not what.
func (s *Service) WakeAll() {
	for _, r := range s.kit.Store.Shared() {
		if r.State.Live() {
			s.Wake(r.ID)
		}
	}
}

// WakeAgent asks for a step of the session whose agent has this pid. The
// presence file of any other process may be that of a second writer.
func (s *Service) WakeAgent(pid int) {
	for _, r := range s.kit.Store.Shared() {
		if r.State.Live() && r.Binding != nil && r.Binding.Agent.PID == pid {
			s.Wake(r.ID)
		}
	}
	s.kit.agenda.lookAt(pid)
}

// run takes one step and arranges the next.
func (s *Service) run(ctx context.Context, id uuid.UUID) {
	again, err := s.step(ctx, id)
	if err != nil && !errors.Is(err, session.ErrNotFound) && ctx.Err() == nil {
		s.kit.Log.Warn("session_step_failed", logkey.SessionID, id.String(), logkey.Error, err.Error())
		again = max(again, s.failedAgain(id))
	} else {
		s.kit.memories.remember(id, func(m *memory) { m.failures = 0 })
	}
	if ctx.Err() != nil {
		again = 0
	}
	s.kit.agenda.stepped(id, again)
}

// failedAgain is the pause after a step that failed, longer each time: what a step
// tells before it fails is told again by the next.
func (s *Service) failedAgain(id uuid.UUID) (wait time.Duration) {
	s.kit.memories.remember(id, func(m *memory) {
		wait = pause.Doubled(2*time.Second, 5*time.Minute, m.failures)
		m.failures++
	})
	return wait
}

func (k *kit) at(point string) {
	if k.Failpoint != nil {
		k.Failpoint(point)
	}
}

// Attach is the command that shows the session's window at the desk.
func (s *Service) Attach(r session.Record) string { return s.kit.attach(r) }

func (k *kit) attach(r session.Record) string {
	var window tmux.WindowID
	if r.Binding != nil {
		window, _ = tmux.ParseWindowID(r.Binding.Window) // a bad one attaches to the session as a whole
	}
	return k.Tmux.AttachCommand(window, r.Name)
}
