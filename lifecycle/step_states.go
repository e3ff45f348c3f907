package lifecycle

import (
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/git"
	"ccbot/internal/process"
	"ccbot/lifecycle/dialog"
	"ccbot/port/talk"
)

// stepStates holds what a Service remembers of sessions between steps. A restart loses it, which
// costs at most a repeated report.
type stepStates struct {
	mu   sync.Mutex
	byID map[uuid.UUID]stepState
}

// stepState holds what is remembered of one launch of a session, until the session has ended.
type stepState struct {
	agent      process.Identity // the agent that was seen alive
	failures   int              // steps that have failed in a row
	tidied     time.Time        // when ccbot last tried to end the tools of killed processes
	costsSince time.Time        // when a prompt began to wait for the cost of the last turn; zero: none does
	dialog     dialog.State
	turn       turnState
	git        *gitReading // the newest reading of the repository
}

// turnState holds the agent's last seen activity.
type turnState struct {
	phase      talk.Phase
	since      time.Time // of this phase
	idleBy     time.Time // when the presence file that says idle was written
	linesUntil time.Time // until this time more lines of the previous turn may come
	retrying   bool      // it was reported that requests of this turn fail
}

func (s *stepStates) recall(id uuid.UUID) stepState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[id]
}

func (s *stepStates) remember(id uuid.UUID, change func(*stepState)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.byID[id]
	change(&one)
	s.byID[id] = one
}

func (s *stepStates) forget(id uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, id)
}

// gitReading is the result of one reading of a session's repository.
type gitReading struct{ state *git.State }
