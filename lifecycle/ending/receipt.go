package ending

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"ccbot/internal/each"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/port/news"
)

// Receipt is the result of an archive: every process that it considered, and how that process ended
// or why it was spared.
type Receipt struct {
	news.Piece
	Agent    *Ending       // the bound agent; nil if it had ended already
	Others   []Ending      // leftovers that were ended, and processes that were spared
	Split    bool          // a person has split the window: their panes stay
	Adopted  bool          // a person opened the pane: it stays
	Quiet    time.Duration // the session was archived because nothing happened for this long; 0: a person asked for it
	Together bool          // see Silence
	Failures []Failure     // unproven facts; if there are any, the state is cleanup_failed
}

// Ending is the end of one process in a receipt, or the reason why it was spared.
type Ending struct {
	process.Outcome
	Age time.Duration // 0: not known
}

// isGone says that the process is proven gone.
func (e Ending) isGone() bool { return e.Ended && e.Verified }

// guarded says that a guard spared the process, and not a fact that could not be found out.
func (e Ending) guarded() bool {
	return e.Reason != "" && e.Reason != process.ReasonUnproven && e.Reason != process.ReasonUnreadable
}

// ReasonSecond is a reason to leave a process alone, besides those of packages process and
// evidence: the process does not belong to the session, and ends only by a person's tap.
const ReasonSecond = "second_writer"

// Failure is one thing that an archive could not prove.
type Failure struct {
	Kind   FailureKind
	ID     process.Identity // of the process; zero if the failure is about none
	Detail string           // English, for the log and the record
}

// FailureKind is the kind of an unproven fact.
type FailureKind string

const (
	FailureTmux      FailureKind = "tmux"      // tmux does not report whether the pane is there, or does not close it
	FailureProcesses FailureKind = "processes" // the process table or the evidence cannot be read
	FailureUnknown   FailureKind = "unknown"   // it is unknown whether this process lives, or writes
	FailureSurvived  FailureKind = "survived"  // this process still lives after KILL
	FailureSpared    FailureKind = "spared"    // this process writes the conversation and may not be ended
)

// String is the failure in English.
func (f Failure) String() string {
	if f.ID.PID == 0 {
		return f.Detail
	}
	return fmt.Sprintf("process %d: %s", f.ID.PID, f.Detail)
}

// failureOf makes a failure that is about a process.
func failureOf(kind FailureKind, id process.Identity, detail string) Failure {
	return Failure{Kind: kind, ID: id, Detail: detail}
}

func (r *Receipt) fail(kind FailureKind, id process.Identity, detail string) {
	r.Failures = append(r.Failures, failureOf(kind, id, detail))
}

// failOutcome notes that a process should have ended and has not, or that its end is unknown.
func (r *Receipt) failOutcome(out process.Outcome, err error) {
	id := out.Process.Identity
	switch {
	case errors.Is(err, process.ErrSurvived):
		r.fail(FailureSurvived, id, "it survived KILL")
	case err != nil:
		r.fail(FailureUnknown, id, err.Error())
	case out.Ended:
		r.fail(FailureUnknown, id, "its end is not verified")
	case out.Reason == process.ReasonUnproven:
		r.fail(FailureUnknown, id, out.Spared)
	default:
		r.fail(FailureSpared, id, out.Spared)
	}
}

// HasEnded reports whether anything was ended.
func (r *Receipt) HasEnded() bool {
	ended := func(e Ending) bool { return e.Ended && e.How != process.HowAlreadyGone }
	return r.Agent != nil && ended(*r.Agent) || slices.ContainsFunc(r.Others, ended)
}

// EndedText lists for the history what was ended, and how; empty if nothing was ended.
func (r *Receipt) EndedText() (text string) {
	all := slices.Clone(r.Others)
	if r.Agent != nil {
		all = append([]Ending{*r.Agent}, all...)
	}
	all = slices.DeleteFunc(all, func(e Ending) bool { return !e.isGone() || e.How == process.HowAlreadyGone })
	for _, e := range all[:min(len(all), maxNamed)] {
		text += fmt.Sprintf("; process %d ended (%s)", e.Process.PID, e.How)
	}
	if more := len(all) - maxNamed; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// maxNamed is the number of processes one line of a history names at most.
const maxNamed = 6

// kept returns the failures in the form that the record has.
func (r *Receipt) kept() []session.CleanupFailure {
	return each.As(r.Failures, func(f Failure) session.CleanupFailure {
		return session.CleanupFailure{Kind: string(f.Kind), PID: f.ID.PID, Detail: f.Detail}
	})
}

// HasFailed reports whether an earlier cleanup has the same failures: the kinds and their processes
// are compared. It ignores the details, because they carry errors whose words change from try to
// try.
func (r *Receipt) HasFailed(before *session.CleanupError) bool {
	set := func(all []session.CleanupFailure) map[session.CleanupFailure]bool {
		found := make(map[session.CleanupFailure]bool)
		for _, f := range all {
			f.Detail = ""
			found[f] = true
		}
		return found
	}
	return before != nil && maps.Equal(set(before.Failures), set(r.kept()))
}

// Reasons lists the failures in English.
func (r *Receipt) Reasons() []string { return each.As(r.Failures, Failure.String) }

// withAge adds the process's age to its outcome.
func withAge(out process.Outcome, now process.Moment) Ending {
	age, _ := out.Process.Age(now)
	return Ending{Outcome: out, Age: age}
}

// Cleanup describes for the record what is left after another failed try. before is the record's
// earlier description, nil if there is none.
func (r *Receipt) Cleanup(before *session.CleanupError) *session.CleanupError {
	c := &session.CleanupError{Reason: r.Failures[0].String(), Failures: r.kept(), Attempts: 1}
	if before != nil {
		c.Attempts += max(0, before.Attempts)
	}
	for _, f := range r.Failures {
		if f.ID.PID != 0 && !slices.Contains(c.Processes, f.ID) {
			c.Processes = append(c.Processes, f.ID)
		}
	}
	return c
}
