package recovery

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/each"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

// outcome is the decision about a conversation that turns up in a process.
type outcome string

const (
	// The process is the agent of a session already.
	sessionActive  outcome = "current_session_active"
	sessionResumed outcome = "resumed_same_agent_session" // a session continues in the process

	// Nothing moves.
	noSession    outcome = "no_matching_prior_session"
	manySessions outcome = "multiple_matching_prior_sessions" // a person decides
	allStale     outcome = "matching_prior_session_abandoned_stale"
	secondWriter outcome = "second_writer" // it is reported to a person
	// Its presence file, which comes a moment later, leads to another decision.
	agentUnproven outcome = "agent_unproven"
	nestedAgent   outcome = "nested_agent"
	agentGone     outcome = "agent_gone"
	lockTimeout   outcome = "resume_lock_timeout" // the next scan of all processes tries again
)

// resumeFacts are all facts that decide about a process that has come to a conversation.
type resumeFacts struct {
	Now        time.Time
	StaleAfter time.Duration // 0: nothing is stale

	Agent          process.Identity // the process that came
	AgentSessionID uuid.UUID        // the conversation
	Alive          process.Liveness
	Nested         bool // it runs below another agent

	Bound uuid.UUID // the session that has it as its agent, or Nil

	Owners    []Owner // the sessions that have the conversation
	Others    int     // other processes that write the conversation, or may
	Proven    bool    // its presence file says that it has the conversation
	Objection string  // why it is not taken over without asking; empty: it may be taken over
	Busy      bool    // the worker of the session to move was not free
}

// Owner is a session that has the conversation, while its agent is another process.
type Owner struct {
	ID    uuid.UUID
	State session.State
	Agent process.Liveness // of its bound agent
	Sign  Sign             // without the transcript, which any process may have written
}

// resume is a decision with its reason.
type resume struct {
	Outcome outcome
	Why     string
	From    uuid.UUID   // the session that continues in the process, or Nil
	Stale   []Stale     // sessions that are set aside first
	Records []uuid.UUID // the sessions that get a line in their history about it
}

// Stale is a session that is too old to be chosen when its conversation comes back.
type Stale struct {
	ID      uuid.UUID
	Abandon bool // it becomes abandoned; otherwise it keeps its state
	Silence Silence
}

// reconcileResume decides to which session a conversation belongs that has turned up in a process.
// It is pure and total. At most one session moves: only to a proven agent, only while no other
// process writes the conversation, and only if the session did not end on purpose.
func reconcileResume(f resumeFacts) resume {
	switch {
	case f.Alive != process.Alive:
		return resume{Outcome: agentGone, Why: "the process is " + f.Alive.String()}
	case f.Bound != uuid.Nil:
		return resume{Outcome: sessionActive, Why: "it is the agent of a session"}
	case len(f.Owners) == 0:
		return resume{Outcome: noSession, Why: "no session has this conversation"}
	case f.Nested:
		return stays(nestedAgent, f.Owners, "it runs below another agent")
	case f.Others > 0:
		return stays(secondWriter, f.Owners, fmt.Sprintf("%d other processes write the conversation, or may", f.Others))
	case !f.Proven:
		return stays(agentUnproven, f.Owners, f.Objection)
	case f.Objection != "":
		return stays(secondWriter, f.Owners, f.Objection)
	case slices.ContainsFunc(f.Owners, Owner.mayRun):
		return stays(secondWriter, f.Owners, "a session with this conversation is not proven to have ended")
	}
	return f.choose()
}

// choose finds the one session to which the conversation belongs. A single session is chosen at any
// age; of several, those without a sign of life for too long are not chosen.
func (f resumeFacts) choose() resume {
	left, stale := f.Owners, []Stale(nil)
	if len(f.Owners) > 1 {
		left, stale = f.fresh()
	}
	var d resume
	switch {
	case len(left) == 0:
		d = resume{Outcome: allStale, Why: fmt.Sprintf("all %d sessions with this conversation are stale", len(f.Owners))}
	case len(left) > 1:
		d = stays(manySessions, left, fmt.Sprintf("%d sessions have this conversation", len(left)))
	case left[0].State.EndedOnPurpose():
		d = stays(secondWriter, left, "the session was ended on purpose")
	case f.Busy:
		d = stays(lockTimeout, left, "the session's worker was not free in time")
	default:
		d = resume{Outcome: sessionResumed, Why: "the only session with this conversation continues in its window", From: left[0].ID}
	}
	d.Stale = stale
	return d
}

// fresh separates the stale owners from the others.
func (f resumeFacts) fresh() (left []Owner, stale []Stale) {
	for _, o := range f.Owners {
		silence, old := o.Sign.stale(f.Now, f.StaleAfter)
		if !old {
			left = append(left, o)
			continue
		}
		stale = append(stale, Stale{ID: o.ID, Silence: silence, Abandon: o.State == session.Running || o.State == session.Lost})
	}
	return left, stale
}

// stays returns an outcome that moves nothing; the histories of the owners get a line about it.
func stays(outcome outcome, owners []Owner, why string) resume {
	return resume{Outcome: outcome, Why: why, Records: each.As(owners, func(o Owner) uuid.UUID { return o.ID })}
}

// mayRun reports whether something of the session may still run, or is being ended.
func (o Owner) mayRun() bool {
	return o.State == session.CleanupFailed || session.MayRun(o.State, o.Agent)
}
