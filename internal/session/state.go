package session

import (
	"fmt"
	"slices"

	"ccbot/internal/process"
)

// State is where a session is in its life. The empty state is not valid.
type State string

const (
	Starting      State = "starting"       // a window is being made, the agent is not ready yet
	Running       State = "running"        // the agent was ready once and is bound
	Restoring     State = "restoring"      // as starting, for a session that lived before
	Stopping      State = "stopping"       // the agent is being ended; intent on disk
	Archived      State = "archived"       // ended on purpose, may come back
	Completed     State = "completed"      // done, or the agent ended by itself
	CleanupFailed State = "cleanup_failed" // a leftover could not be proven dead
	Lost          State = "lost"           // the pane is proven gone, without us
	Failed        State = "failed"         // it ended before it was ever ready
	Abandoned     State = "abandoned"      // no sign of life for too long
)

// transitions is the whole life of a session. What is not in it is refused.
var transitions = map[State][]State{
	"":            {Starting, Running}, // running: adopted, or taken over from another record
	Starting:      {Running, Stopping, Failed},
	Restoring:     {Running, Stopping, Failed},
	Running:       {Stopping, Lost, Abandoned},
	Stopping:      {Archived, Completed, CleanupFailed},
	CleanupFailed: {Stopping},
	Archived:      {Restoring},
	Completed:     {Restoring},
	Lost:          {Abandoned, Restoring},
	Failed:        {Restoring},
	Abandoned:     {Restoring},
}

// States lists every state, in the order of a life.
func States() []State {
	return []State{Starting, Running, Restoring, Stopping, Archived, Completed, CleanupFailed, Lost, Failed, Abandoned}
}

// Valid says whether s is one of the known states.
func (s State) Valid() bool { return slices.Contains(States(), s) }

// Live says whether a process may be running for a session in this state.
func (s State) Live() bool {
	return s == Starting || s == Running || s == Restoring || s == Stopping
}

// Open says whether the agent of a session in this state runs or is being started, and nobody has asked for its end.
func (s State) Open() bool { return s.Live() && s != Stopping }

// Launching says whether the agent of a session in this state is being started.
func (s State) Launching() bool { return s == Starting || s == Restoring }

// Over says whether a session in this state has ended, with all that belonged to it, as far as anybody knows: it can be
// brought back. One whose clean-up failed is neither live nor over.
func (s State) Over() bool { return slices.Contains(transitions[s], Restoring) }

// EndedOnPurpose says whether a person or its own agent has ended a session in this state: who goes on with its
// conversation has to say that it is meant.
func (s State) EndedOnPurpose() bool { return s == Archived || s == Completed }

// MayRun says whether an agent of a session in this state may run, by what is known of the one that is bound. Of a
// running session its end may be known before the record says so; in all other live states one is being started or ended.
func (s State) MayRun(agent process.Liveness) bool {
	return s.Live() && (s != Running || agent != process.Gone)
}

// MayMove says whether a session in this state has ended without anybody wanting it, so that it may go on where its
// conversation goes on.
func (s State) MayMove(agent process.Liveness) bool {
	return (s.Over() || s == Running) && !s.MayRun(agent) && !s.EndedOnPurpose()
}

// CanBecome says whether the table has an edge from s to next.
func (s State) CanBecome(next State) bool { return slices.Contains(transitions[s], next) }

// transitionError is a change of state that the table does not have.
type transitionError struct{ From, To State }

func (e *transitionError) Error() string {
	return fmt.Sprintf("a session cannot go from %q to %q", e.From, e.To)
}
