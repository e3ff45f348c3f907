package lifecycle

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/internal/git"
	"ccbot/internal/pause"
	"ccbot/internal/process"
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

// Service runs the lives of all sessions.
type Service struct {
	Config
	Deps

	wakes chan struct{} // one slot: something is pending

	mu      sync.Mutex
	pending map[uuid.UUID]bool
	busy    map[uuid.UUID]bool
	timers  map[uuid.UUID]*time.Timer
	watched map[process.Identity]bool
	memory  map[uuid.UUID]memory
	waits   []watch // agents to watch once Run runs

	held      map[uuid.UUID]chan struct{} // one slot for each conversation that was resumed or adopted
	strangers map[int]bool                // pids whose presence file changed and that are no agent of ours
	noticing  bool                        // NoticeWriters runs, or is about to
	gits      map[uuid.UUID]bool          // sessions whose repository is to be looked at
	looking   bool                        // one is looked at, or is about to be
}

// memory is what a Service remembers of a session between steps. It is lost in
// a restart, which costs a repeated notice at most.
type memory struct {
	dialog   string // the dialog that was told
	open     string // the dialog that is open, and since when this process sees it without a request
	openAt   time.Time
	asked    bool      // a request waited for the chat at the last look
	gone     time.Time // Asked of the newest request whose dialog was told to be gone
	silent   bool      // "is not ready" was told
	retrying bool      // it was told that requests of this turn fail
	head     string    // key of the prompt whose turn it is
	headAt   time.Time
	// phase is what the agent was last seen doing, phaseAt since when; idleSince is
	// by which presence file, and until toldBy more may come of the turn before.
	phase                      Phase
	phaseAt, idleSince, toldBy time.Time
	still                      still // the prompt box as it was last seen, stillAt since when
	stillAt                    time.Time
	git                        *gitLook // the newest look at the repository
	// failures counts the steps that have failed in a row.
	failures int
	seen     process.Identity // the agent, alive
	last     Prompt           // the one that the agent took last
	escAt    time.Time        // when ccbot pressed Esc last
	pasted   string           // key of the prompt whose paste tmux has taken: it is on its way to the box
}

type watch struct {
	session uuid.UUID
	agent   process.Identity
}

// New returns a Service; Run makes it work.
func New(c Config, d Deps) *Service {
	return &Service{Config: c, Deps: d,
		wakes:   make(chan struct{}, 1),
		pending: make(map[uuid.UUID]bool), busy: make(map[uuid.UUID]bool),
		timers: make(map[uuid.UUID]*time.Timer), watched: make(map[process.Identity]bool),
		memory: make(map[uuid.UUID]memory), strangers: make(map[int]bool), held: make(map[uuid.UUID]chan struct{}),
		gits: make(map[uuid.UUID]bool)}
}

// Run takes steps and watches agents until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.noticeRegularly(ctx) })
	s.wakeUnfinished()
	for {
		for _, id := range s.takePending() {
			g.Go(func() error { s.run(ctx, id); return nil })
		}
		for _, w := range s.takeWatches() {
			g.Go(func() error { s.watch(ctx, w); return nil })
		}
		if pids := s.takeStrangers(); len(pids) > 0 {
			g.Go(func() error { s.notice(ctx, pids); return nil })
		}
		if ids := s.takeGits(); len(ids) > 0 {
			g.Go(func() error { s.lookAtGits(ctx, ids); return nil })
		}
		select {
		case <-ctx.Done():
			s.stopTimers()
			return errors.Join(g.Wait(), ctx.Err())
		case <-s.wakes:
		}
	}
}

// Wake asks for a step of a session: something about it may have changed.
func (s *Service) Wake(id uuid.UUID) {
	s.mu.Lock()
	s.pending[id] = true
	s.mu.Unlock()
	s.signal()
}

// WakeAll asks for a step of every live session; tmux or the presence folder
// says that something changed, not what.
func (s *Service) WakeAll() {
	for _, r := range s.Store.Shared() {
		if r.State.Live() {
			s.Wake(r.ID)
		}
	}
}

// WakeAgent asks for a step of the session whose agent has this pid. The
// presence file of any other process may be that of a second writer.
func (s *Service) WakeAgent(pid int) {
	for _, r := range s.Store.Shared() {
		if r.State.Live() && r.Binding != nil && r.Binding.Agent.PID == pid {
			s.Wake(r.ID)
		}
	}
	s.lookAt(pid)
}

// lookAt asks whether a process has come to a conversation that is not its own.
func (s *Service) lookAt(pid int) {
	s.mu.Lock()
	s.strangers[pid] = true
	s.mu.Unlock()
	s.signal()
}

func (s *Service) signal() {
	pause.Poke(s.wakes)
}

// takePending takes the sessions to step that no step is running for; the
// others are taken when their step ends.
func (s *Service) takePending() []uuid.UUID {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []uuid.UUID
	for id := range s.pending {
		if s.busy[id] {
			continue
		}
		delete(s.pending, id)
		s.busy[id] = true
		ids = append(ids, id)
	}
	return ids
}

// run takes one step and arranges the next.
func (s *Service) run(ctx context.Context, id uuid.UUID) {
	again, err := s.step(ctx, id)
	if err != nil && !errors.Is(err, session.ErrNotFound) && ctx.Err() == nil {
		s.Log.Warn("session_step_failed", "session_id", id.String(), "error", err.Error())
		again = max(again, s.failedAgain(id))
	} else {
		s.remember(id, func(m *memory) { m.failures = 0 })
	}
	s.mu.Lock()
	delete(s.busy, id)
	if t := s.timers[id]; t != nil {
		t.Stop()
		delete(s.timers, id)
	}
	if again > 0 && ctx.Err() == nil {
		s.timers[id] = time.AfterFunc(again, func() { s.Wake(id) })
	}
	s.mu.Unlock()
	s.signal()
}

// failedAgain is the pause after a step that failed, longer each time: what a step
// tells before it fails is told again by the next.
func (s *Service) failedAgain(id uuid.UUID) (pause time.Duration) {
	s.remember(id, func(m *memory) {
		pause = min(2*time.Second<<min(m.failures, 8), 5*time.Minute)
		m.failures++
	})
	return pause
}

func (s *Service) stopTimers() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.timers {
		t.Stop()
	}
}

func (s *Service) recall(id uuid.UUID) memory {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.memory[id]
}

func (s *Service) remember(id uuid.UUID, change func(*memory)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.memory[id]
	change(&m)
	s.memory[id] = m
}

func (s *Service) at(point string) {
	if s.Failpoint != nil {
		s.Failpoint(point)
	}
}

// Attach is the command that shows the session's window at the desk.
func (s *Service) Attach(r session.Record) string {
	var window tmux.WindowID
	if r.Binding != nil {
		window, _ = tmux.ParseWindowID(r.Binding.Window) // a bad one attaches to the session as a whole
	}
	return s.Tmux.AttachCommand(window, r.Name)
}
