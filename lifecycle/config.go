package lifecycle

import (
	"context"
	"slices"
	"time"

	coding "ccbot/agent"
	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/typing"
)

// Config configures launches, and for how long they are protected.
type Config struct {
	Host     string            // name of this machine
	StateDir string            // $CCBOT_DIR
	Env      map[string]string // variables a launch gets
	Unset    []string          // variables a launch must not inherit

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
	Typist    *typing.Typist // its Observer also has the agents, the clock and the log of the Service
	Windows   Windows
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

// configured returns the launch settings of a new session of an agent.
func configured(by coding.Agent) *session.Launch {
	launch := by.Launch
	launch.Flags = slices.Clone(launch.Flags)
	return &launch
}
