package session

import (
	"slices"

	"ccbot/internal/process"
)

// State is the state of a session. The empty state is not valid.
type State string

const (
	Starting      State = "starting"       // a window is being made, the agent is not ready yet
	Running       State = "running"        // the agent was ready once and is bound
	Restoring     State = "restoring"      // like starting, for a session that ran before
	Stopping      State = "stopping"       // the agent is being ended; this intent is on disk
	Archived      State = "archived"       // ended on purpose, may be restored
	Completed     State = "completed"      // done, or the agent ended by itself
	CleanupFailed State = "cleanup_failed" // a leftover could not be proven dead
	Lost          State = "lost"           // the pane is proven gone, and ccbot did not close it
	Failed        State = "failed"         // it ended before it was ever ready
	Abandoned     State = "abandoned"      // no sign of life for too long
)

// transitions is the whole life of a session. A transition that is not in it is refused.
var transitions = map[State][]State{
	"":            {Starting, Running}, // running: adopted
	Starting:      {Running, Stopping, Failed},
	Restoring:     {Running, Stopping, Failed},
	Running:       {Stopping, Lost, Abandoned},
	Stopping:      {Archived, Completed, CleanupFailed},
	CleanupFailed: {Stopping},
	Archived:      {Restoring, Running}, // running: adopted
	Completed:     {Restoring, Running},
	Lost:          {Abandoned, Restoring, Running},
	Failed:        {Restoring, Running},
	Abandoned:     {Restoring, Running},
}

// States lists every state, in the order of a life.
func States() []State {
	return []State{Starting, Running, Restoring, Stopping, Archived, Completed, CleanupFailed, Lost, Failed, Abandoned}
}

// Valid reports whether s is one of the known states.
func (s State) Valid() bool { return slices.Contains(States(), s) }

// Live reports whether a process may be running for a session in this state.
func (s State) Live() bool {
	return s == Starting || s == Running || s == Restoring || s == Stopping
}

// Open reports whether the agent of a session in this state runs or is being started, and its end
// was not requested.
func (s State) Open() bool { return s.Live() && s != Stopping }

// Launching reports whether the agent of a session in this state is being started.
func (s State) Launching() bool { return s == Starting || s == Restoring }

// Over reports whether a session in this state, with everything that belonged to it, has ended as
// far as is known: it can be brought back. A session with a failed clean-up is neither live nor
// over.
func (s State) Over() bool { return slices.Contains(transitions[s], Restoring) }

// EndedOnPurpose reports whether a person or the session's own agent has ended a session in this
// state: continuing its conversation needs an explicit request.
func (s State) EndedOnPurpose() bool { return s == Archived || s == Completed }

// MayRun reports whether an agent of a session in this state may run, given the liveness of the
// bound agent. A running session's agent may be known to be gone before the record has it; in every
// other live state an agent is being started or ended.
func (s State) MayRun(agent process.Liveness) bool {
	return s.Live() && (s != Running || agent != process.Gone)
}

// MayMove reports whether a session in this state has ended without a request, so that the session
// may move to wherever its conversation is continued.
func (s State) MayMove(agent process.Liveness) bool {
	return (s.Over() || s == Running) && !s.MayRun(agent) && !s.EndedOnPurpose()
}

// CanBecome reports whether the table has a transition from s to next.
func (s State) CanBecome(next State) bool { return slices.Contains(transitions[s], next) }
