package lifecycle

import (
	"github.com/google/uuid"

	"ccbot/internal/session"
)

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
		base: &base{Observer: d.Typist.Observer(), Evidence: d.Ender.Evidence, News: d.News, store: d.Store, at: at,
			forgetPrompts: d.Typist.Forget, agenda: newAgenda(), states: &stepStates{byID: make(map[uuid.UUID]stepState)}}}}
}

// WakeAll asks for a step of every live session: tmux or the presence folder reports that something
// changed, but not what.
func (s *Service) WakeAll() {
	s.core.wakeEach(func(r session.Record) bool { return r.State.Live() })
}

func (c *core) wakeEach(is func(session.Record) bool) {
	for _, r := range c.Shared() {
		if is(r) {
			c.agenda.wake(r.ID)
		}
	}
}

// WakeAgent asks for a step of the session whose agent has this pid. The presence file of any other
// process may belong to a second writer, so the process is checked for that too.
func (s *Service) WakeAgent(pid int) {
	s.core.wakeEach(func(r session.Record) bool {
		return r.State.Live() && r.Binding != nil && r.Binding.Writer().PID == pid
	})
	s.core.agenda.checkProcess(pid)
}

// Attach returns the command that shows the session's window in a terminal.
func (s *Service) Attach(r session.Record) string { return s.core.attach(r) }
