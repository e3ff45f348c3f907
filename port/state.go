package port

// State is the state of a session. The empty state is not valid.
type State string

// The states of a session.
const (
	StateStarting      State = "starting"       // a window is being made, the agent is not ready yet
	StateRunning       State = "running"        // the agent was ready once and is bound
	StateRestoring     State = "restoring"      // like starting, for a session that ran before
	StateStopping      State = "stopping"       // the agent is being ended; this intent is on disk
	StateArchived      State = "archived"       // ended on purpose, may be restored
	StateCompleted     State = "completed"      // done, or the agent ended by itself
	StateCleanupFailed State = "cleanup_failed" // a leftover could not be proven dead
	StateLost          State = "lost"           // the pane is proven gone, and ccbot did not close it
	StateFailed        State = "failed"         // it ended before it was ever ready
	StateAbandoned     State = "abandoned"      // no sign of life for too long

	// StateUnknown is the chat's state of a session that it could not read. No record has it. The
	// agent may run, so the state counts as open: an operation on the session asks its machine.
	StateUnknown State = "unknown"
)

// Live reports whether a process may be running for a session in this state.
func (s State) Live() bool {
	return s == StateStarting || s == StateRunning || s == StateRestoring || s == StateStopping || s == StateUnknown
}

// Open reports whether the agent of a session in this state runs or is being started, and its end
// was not requested.
func (s State) Open() bool { return s.Live() && s != StateStopping }

// Launching reports whether the agent of a session in this state is being started.
func (s State) Launching() bool { return s == StateStarting || s == StateRestoring }

// HasEnded reports whether a session in this state, with everything that belonged to it, has ended
// as far as is known: it can be brought back. A session with a failed clean-up is neither live nor
// over.
func (s State) HasEnded() bool {
	return s == StateArchived || s == StateCompleted || s == StateLost || s == StateFailed || s == StateAbandoned
}

// EndedOnPurpose reports whether a person or the session's own agent has ended a session in this
// state: continuing its conversation needs an explicit request.
func (s State) EndedOnPurpose() bool { return s == StateArchived || s == StateCompleted }
