package session

import (
	"slices"

	"ccbot/internal/process"
	"ccbot/port"
)

// State is the state of a session.
type State = port.State

// The states of a session.
const (
	Starting      = port.StateStarting
	Running       = port.StateRunning
	Restoring     = port.StateRestoring
	Stopping      = port.StateStopping
	Archived      = port.StateArchived
	Completed     = port.StateCompleted
	CleanupFailed = port.StateCleanupFailed
	Lost          = port.StateLost
	Failed        = port.StateFailed
	Abandoned     = port.StateAbandoned
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

// isValid reports whether s is one of the known states.
func isValid(s State) bool { return slices.Contains(States(), s) }

// MayRun reports whether an agent of a session in a state may run, given the liveness of the
// bound agent. A running session's agent may be known to be gone before the record has it; in every
// other live state an agent is being started or ended.
func MayRun(s State, agent process.Liveness) bool {
	return s.Live() && (s != Running || agent != process.Gone)
}

// MayMove reports whether a session in a state has ended without a request, so that the session
// may move to wherever its conversation is continued.
func MayMove(s State, agent process.Liveness) bool {
	return (s.HasEnded() || s == Running) && !MayRun(s, agent) && !s.EndedOnPurpose()
}

// CanBecome reports whether the table has a transition from s to next.
func CanBecome(s, next State) bool { return slices.Contains(transitions[s], next) }
