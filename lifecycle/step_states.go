package lifecycle

import (
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/agent/history"
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
	phase    talk.Phase
	since    time.Time // of this phase
	idleBy   time.Time // when the presence file that says idle was written
	lines    lateLines // of the previous turn
	retrying bool      // it was reported that requests of this turn fail
}

// lateLines are the last lines of a turn in the transcript: an agent is idle before it writes them, and no
// event reports them. Its status line comes within the first look.
type lateLines struct {
	at    time.Time     // of the next look for them; zero: none is needed
	pause time.Duration // before that look
	turns int           // that had ended in the transcript before this one
}

// The pauses before the looks for late lines are doubled until the transcript has the end of the turn. A
// turn that leaves none there, such as a command of the terminal, is not waited for longer than half a minute.
const (
	firstLines = time.Second
	lastLines  = 16 * time.Second
)

// left returns how long it is until the next look; the upper bound: the clock may have been set back.
func (l lateLines) left(now time.Time) time.Duration {
	return max(0, min(l.at.Sub(now), l.pause))
}

// next returns what is to be looked for after a look that found so much of the transcript.
func (l lateLines) next(now time.Time, found history.Progress) lateLines {
	if found.Turns > l.turns && found.OpenTurn == nil || l.pause >= lastLines {
		return lateLines{}
	}
	l.pause *= 2
	l.at = now.Add(l.pause)
	return l
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
