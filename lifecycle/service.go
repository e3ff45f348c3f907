package lifecycle

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/session"
	"ccbot/internal/sysfault"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/typing"
)

// Config configures launches, and for how long they are protected.
type Config struct {
	Host     string   // name of this machine
	StateDir string   // $CCBOT_DIR
	Command  string   // Claude Code: a name on PATH or a path
	Flags    []string // CLAUDE_FLAGS
	// PermissionMode is one of ccbot's own modes: ask or bypass.
	PermissionMode string
	Env            map[string]string // variables a launch gets
	Unset          []string          // variables a launch must not inherit

	// OrphanGrace protects new processes: during this time the window of a launch is searched, and
	// nothing of a session that has just ended is ended.
	OrphanGrace time.Duration
	// LastThere is the time when the previous ccbot last ran, to about a minute; zero means
	// unknown.
	LastThere time.Time
}

// Deps are the parts through which a Service acts on the world.
type Deps struct {
	Store     *session.Store
	Ender     *ending.Ender  // the Service judges by the Ender's evidence
	Typist    *typing.Typist // its Observer also has the clock and the log of the Service
	Windows   Windows
	Launches  Launches
	News      News
	Callbacks *Callbacks // nil: none
}

// Callbacks are functions called immediately, in addition to News. They must be quick.
type Callbacks struct {
	// Lost is called when a session was lost together with its tmux server. That loss is not
	// reported by itself: the other sessions of the server follow in a moment, and the chat gets
	// one report about all of them. nil: each loss is reported separately.
	Lost func()
	// Came is called before the report of a new writer, in a separate window, of a conversation
	// whose own agent is gone. handled reports that the session has moved there, so nothing is
	// reported. It may be nil.
	Came func(ctx context.Context, w evidence.Writer) (handled bool)
	// Failpoint is called at each persisted step with its name. It is nil except in programs that
	// are built to die there.
	Failpoint func(name string)
}

// Service runs the lives of all sessions: its verbs, and the steps that are taken between them.
type Service struct{ core *core }

// New returns a Service. Run starts its work.
func New(c Config, d Deps) *Service {
	if d.Callbacks == nil {
		d.Callbacks = &Callbacks{}
	}
	at := d.Callbacks.Failpoint
	if at == nil {
		at = func(string) {}
	}
	return &Service{&core{Config: c, deps: d, records: &records{Store: d.Store, o: d.Typist.Observer()},
		base: &base{Observer: d.Typist.Observer(), Evidence: d.Ender.Evidence, News: d.News, at: at,
			forgetPrompts: d.Typist.Forget, agenda: newAgenda(), states: &stepStates{byID: make(map[uuid.UUID]stepState)}}}}
}

// Run takes steps and watches agents until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.core.noticeRegularly(ctx) })
	s.core.running.Store(true)
	defer s.core.running.Store(false)
	s.core.wakeEach(func(r session.Record) bool { return !r.State.Live() && stepped(r) }) // ended sessions may have processes to end
	a := s.core.agenda
	for {
		steps, watches, foreign, gits := a.take()
		for _, id := range steps {
			g.Go(func() error { s.core.run(ctx, id); return nil })
		}
		for _, w := range watches {
			g.Go(func() error { s.core.watch(ctx, w); return nil })
		}
		if len(foreign) > 0 {
			g.Go(func() error { s.core.notice(ctx, foreign); return nil })
		}
		if len(gits) > 0 {
			g.Go(func() error { s.core.readGits(ctx, gits); return nil })
		}
		select {
		case <-ctx.Done():
			defer a.stopTimers() // deferred, because until then a step may still start a timer
			return errors.Join(g.Wait(), ctx.Err())
		case <-a.wakes:
		}
	}
}

// WakeAll asks for a step of every live session: tmux or the presence folder reports that something
// changed, but not what.
func (s *Service) WakeAll() {
	s.core.wakeEach(func(r session.Record) bool { return r.State.Live() })
}

func (k *core) wakeEach(is func(session.Record) bool) {
	for _, r := range k.Shared() {
		if is(r) {
			k.agenda.wake(r.ID)
		}
	}
}

// WakeAgent asks for a step of the session whose agent has this pid. The presence file of any other
// process may belong to a second writer, so the process is checked for that too.
func (s *Service) WakeAgent(pid int) {
	s.core.wakeEach(func(r session.Record) bool { return r.State.Live() && r.Binding != nil && r.Binding.Agent.PID == pid })
	s.core.agenda.checkProcess(pid)
}

// run takes one step and schedules the next.
func (k *core) run(ctx context.Context, id uuid.UUID) {
	again, err := k.step(ctx, id)
	failed := err != nil && !errors.Is(err, session.ErrNotFound) && ctx.Err() == nil
	if failed {
		k.Log.Warn("session_step_failed", logkey.SessionID, id.String(), logkey.Error, err)
	}
	k.states.remember(id, func(m *stepState) {
		if !failed {
			m.failures = 0
			return
		}
		// The pause grows, because what a step reports before it fails is reported again by the next
		// step.
		most := 5 * time.Minute
		if sysfault.Of(err) != "" { // it passes
			most = 5 * time.Second
		}
		again = max(again, pause.Doubled(2*time.Second, most, m.failures))
		m.failures++
	})
	if r, ok := k.Store.Get(id); !ok || !stepped(r) {
		k.forget(id)
	}
	if ctx.Err() != nil {
		again = 0
	}
	k.agenda.stepped(id, again)
}

// Attach returns the command that shows the session's window in a terminal.
func (s *Service) Attach(r session.Record) string { return s.core.attach(r) }

func (k *core) watch(ctx context.Context, w watch) {
	if err := k.Observer.Processes.Wait(ctx, w.agent); err != nil && ctx.Err() == nil {
		k.Log.Warn("agent_watch_failed", logkey.PID, w.agent.PID, logkey.Error, err)
		_ = pause.For(ctx, watchRetry)
	}
	k.agenda.note(func() { delete(k.agenda.watched, w.agent) })
	if ctx.Err() == nil {
		k.agenda.wake(w.session)
	}
}

// watchRetry is the pause after the kernel refused to watch an agent.
const watchRetry = 30 * time.Second
