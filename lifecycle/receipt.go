package lifecycle

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"ccbot/internal/process"
	"ccbot/internal/session"
)

// Receipt says what an archive did: every process it looked at, how it ended,
// or why it was spared.
type Receipt struct {
	Agent    *Ending       // the bound agent; nil when it had already ended
	Others   []Ending      // leftovers ended, and what was spared
	Split    bool          // a person has split the window: their panes stay
	Adopted  bool          // a person opened the pane: it stays
	Waiting  int           // prompts that were not typed; they stay with the session
	Quiet    time.Duration // it was archived because nothing happened for this long; 0: a person asked
	Failures []Failure     // what could not be proven; then the state is cleanup_failed
}

// Ending is one process of a receipt.
type Ending struct {
	process.Outcome
	Age time.Duration // 0: not known
}

// over says that it is proven gone.
func (e Ending) over() bool { return e.Ended && e.Verified }

// guarded says that it was spared by a guard, and not because something could
// not be found out.
func (e Ending) guarded() bool {
	return e.Reason != "" && e.Reason != process.ReasonUnproven && e.Reason != process.ReasonUnreadable
}

// ReasonSecond is a reason to leave a process alone beside those of packages process
// and evidence: it is not the session's own, and ended only by a person's tap.
const ReasonSecond = "second_writer"

// Failure is one thing that an archive could not prove.
type Failure struct {
	Kind   FailureKind
	PID    int    // 0 where it is about no process
	Detail string // English, for the log and the record
	// ID is the process itself: somebody else may have its pid by now.
	ID process.Identity
}

// FailureKind says what could not be proven.
type FailureKind string

const (
	FailureTmux      FailureKind = "tmux"      // tmux does not say whether the pane is there, or does not close it
	FailureProcesses FailureKind = "processes" // the process table or the evidence cannot be read
	FailureUnknown   FailureKind = "unknown"   // nobody knows whether this process lives, or writes
	FailureSurvived  FailureKind = "survived"  // this process lives after KILL
	FailureSpared    FailureKind = "spared"    // this process writes the conversation and may not be ended
)

// String is the failure in English.
func (f Failure) String() string {
	if f.PID == 0 {
		return f.Detail
	}
	return fmt.Sprintf("process %d: %s", f.PID, f.Detail)
}

// failureOf is a failure that is about a process.
func failureOf(kind FailureKind, id process.Identity, detail string) Failure {
	return Failure{Kind: kind, PID: id.PID, Detail: detail, ID: id}
}

func (r *Receipt) fail(kind FailureKind, id process.Identity, detail string) {
	r.Failures = append(r.Failures, failureOf(kind, id, detail))
}

// failOutcome notes a process that should have ended and has not, or of which
// that is not known.
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

// hasEnded says whether anything was ended.
func (r *Receipt) hasEnded() bool {
	ended := func(e Ending) bool { return e.Ended && e.How != process.HowAlreadyGone }
	return r.Agent != nil && ended(*r.Agent) || slices.ContainsFunc(r.Others, ended)
}

// ended names for the history what was ended, and how; empty where nothing was.
func (r *Receipt) ended() (text string) {
	all := r.Others
	if r.Agent != nil {
		all = append([]Ending{*r.Agent}, all...)
	}
	for _, e := range all[:min(len(all), maxNamed)] {
		if e.over() && e.How != process.HowAlreadyGone {
			text += fmt.Sprintf("; process %d ended (%s)", e.Process.PID, e.How)
		}
	}
	return text
}

// maxNamed bounds the processes that one line of a history names.
const maxNamed = 6

// kept are the failures as the record keeps them.
func (r *Receipt) kept() (kept []session.CleanupFailure) {
	for _, f := range r.Failures {
		kept = append(kept, session.CleanupFailure{Kind: string(f.Kind), PID: f.PID, Detail: f.Detail})
	}
	return kept
}

// sameFailures compares what failed, and for whom. The details carry errors whose
// words change from try to try.
func sameFailures(a, b []session.CleanupFailure) bool {
	type what struct {
		kind string
		pid  int
	}
	set := func(all []session.CleanupFailure) map[what]bool {
		found := map[what]bool{}
		for _, f := range all {
			found[what{f.Kind, f.PID}] = true
		}
		return found
	}
	return maps.Equal(set(a), set(b))
}

func (r *Receipt) reasons() []string {
	var all []string
	for _, f := range r.Failures {
		all = append(all, f.String())
	}
	return all
}

// aged adds the process's age to its outcome.
func (k *kit) aged(out process.Outcome, now process.Moment) Ending {
	age, _ := out.Process.Age(now)
	return Ending{Outcome: out, Age: age}
}
