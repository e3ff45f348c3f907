package lifecycle

import (
	"time"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/view"
)

// Do is one thing that is done with a session. The exported ones are about its life: Decide returns
// them, and the dry run and the report of a start name them. Reattach alone changes no record.
type Do string

const (
	// Reattach is for an agent that lives, or is not proven to have ended: steps watch it.
	Reattach Do = "reattach"

	// A launch was cut short.
	Bind Do = "bind" // its window was made, and the record does not name it yet
	// A start made no window, and the command that asked for it comes again.
	Discard       Do = "discard"
	FinishRestore Do = "finish_restore" // a restore of a moment ago made no window yet
	Fail          Do = "fail"           // there is no window, and no request waits for it

	FinishStop Do = "finish_stop" // an archive was interrupted
	Retry      Do = "retry"       // a cleanup failed, and its next try is due

	Conclude     Do = "conclude"      // the agent ended by itself: read its exit, close its pane, report it
	MarkLost     Do = "mark_lost"     // pane and process are gone, and ccbot did not close them
	EndLeftovers Do = "end_leftovers" // the session was ended on purpose, and processes of it still run
)

// Changes reports whether it changes a record. At a start, such a thing is noted in the record's
// history before and after, and the records are backed up first.
func (d Do) Changes() bool { return d != Reattach }

// Facts are the facts about the life of one session, besides its record. The zero value means that
// nothing is known, and no end follows from it.
type Facts struct {
	Now   time.Time
	Grace time.Duration // see Config.OrphanGrace
	// Start reports that the facts are of a start, and not of a step: an earlier ccbot may have died
	// in the midst of something, and no ccbot saw what happened to the session since then.
	Start bool
	Agent process.Liveness // of the session's agent; without an agent: Gone
	Half  evidence.Half
	// Fate is the fate of the session's pane. If the session is bound to nothing, PaneOurs says that
	// a pane holds its launch, and PaneGone that no pane does.
	Fate view.PaneFate
	Left bool // processes that still run are proven to be left of a session that has ended
}

// Decision is the action required for the life of a session.
type Decision struct {
	Do    Do            // empty: nothing
	Why   string        // the rule, in a sentence
	Again time.Duration // when to decide again at the latest; 0: when something changes
}

// Decide determines what has to be done about the life of a session: at a start, and in each step
// before anything else. The first row that holds decides. It is pure.
//
//	it has ended: the cleanup failed                          Retry, after a pause
//	    it was ended on purpose, something runs, at a start   EndLeftovers, after a pause
//	it is stopping                                            FinishStop
//	it is bound to no pane: a pane holds its launch           Bind
//	    it was running                                        MarkLost
//	    it is being launched, in a step                       Fail, after OrphanGrace
//	    it is being launched, at a start: starting            Discard
//	        restoring, young or old                           FinishRestore, Fail
//	its agent lives, or that is unknown                       Reattach if its pane is there
//	its agent has ended: its pane is dead                     Conclude
//	    its pane is there: it is a person's                   Conclude
//	                       its server has ended               Conclude
//	                       tmux does not know of the end yet  Reattach
//	    its server lives, or that is unknown                  Conclude
//	    its pane is gone, at a start                          MarkLost
//	    its pane is gone: it is a person's, or never ready    Conclude
//	    its pane is gone                                      MarkLost
//	    nothing is known of its pane, in a step: a person's   Conclude
func Decide(r session.Record, f Facts) Decision {
	switch {
	case r.State == session.Stopping:
		return Decision{Do: FinishStop, Why: "an archive was interrupted"}
	case !r.State.Live():
		return decideEnded(r, f)
	case r.Binding == nil:
		return decideUnbound(r, f)
	}
	return decideBound(r, f)
}

// decideEnded decides about a session that has ended. Leftovers are ended only of a session that
// was ended on purpose: a process that continues a lost session may belong to a person in a
// terminal.
func decideEnded(r session.Record, f Facts) Decision {
	wait := untilRetry(r, f.Now)
	switch {
	case r.State == session.CleanupFailed && wait > 0:
		return Decision{Again: wait}
	case r.State == session.CleanupFailed:
		return Decision{Do: Retry, Why: "its cleanup failed", Again: view.Soon}
	case !f.Left || !r.State.EndedOnPurpose() || f.young(r.EndedAt):
		return Decision{}
	case wait > 0:
		return Decision{Again: wait}
	}
	return Decision{Do: EndLeftovers, Why: "it has ended, and a process of it still runs"}
}

// untilRetry returns the time until the next try of a session's cleanup. A try that is further off
// than any pause was noted by a clock that was wrong: it is due.
func untilRetry(r session.Record, now time.Time) time.Duration {
	if r.Cleanup == nil { // of a failed cleanup: a file that was edited
		return 0
	}
	wait := r.Cleanup.NotBefore.Sub(now)
	if wait > RetryMost {
		return 0
	}
	return max(wait, 0)
}

// decideUnbound decides about a live session without a binding: ccbot died, or tmux lost the
// answer, between the intent to launch an agent and the binding.
func decideUnbound(r session.Record, f Facts) Decision {
	const never = "its window was never made"
	age := f.Now.Sub(r.StartedAt)
	switch {
	case f.Fate == view.PaneOurs:
		return Decision{Do: Bind, Why: "a window carries its tag"}
	case f.Fate != view.PaneGone:
		return Decision{}
	case r.State == session.Running && f.Agent == process.Gone:
		return Decision{Do: MarkLost, Why: "it is bound to nothing"}
	case r.State == session.Running:
		return Decision{}
	case !f.Start && age <= f.Grace:
		return Decision{Again: min(view.HoldPace, max(f.Grace, view.Soon))}
	case f.Start && r.State == session.Starting:
		return Decision{Do: Discard, Why: never}
	case f.Start && f.young(r.StartedAt):
		return Decision{Do: FinishRestore, Why: "it was requested a moment ago, and " + never}
	}
	return Decision{Do: Fail, Why: never}
}

// decideBound decides about a live session from the facts about its agent and its pane. At a start,
// one report has all sessions that lost their panes. In a step, the end of a session in a person's
// pane is not a loss, because that person may have closed the pane.
func decideBound(r session.Record, f Facts) Decision {
	adopted := r.Binding.Adopted
	there := f.Fate == view.PaneOurs || f.Fate == view.PaneDead
	switch {
	case !f.ended(adopted) && there:
		return Decision{Do: Reattach, Why: "its pane is there"}
	case !f.ended(adopted):
		return Decision{}
	case there && f.Start:
		return Decision{Do: Conclude, Why: "its agent ended while ccbot was away"}
	case f.Half == evidence.NoTerminal:
		return Decision{Do: Conclude, Why: "its agent ended, and its server is left"}
	case there, !f.Start && (adopted || r.State != session.Running):
		return Decision{Do: Conclude, Why: "its agent ended by itself"}
	}
	return Decision{Do: MarkLost, Why: "its pane and its process are gone"}
}

// ended reports whether the agent of a live session has ended. The kernel must prove it, and also
// tmux, unless tmux has forgotten the pane or the pane belongs to a person: tmux learns of an end a
// little later than the kernel, and then its dead pane has the exit status. At a start, an unknown
// pane leaves the session unclear.
func (f Facts) ended(adopted bool) bool {
	switch f.Fate {
	case view.PaneDead, view.PaneGone, view.PaneForeign:
		return f.Agent == process.Gone
	case view.PaneOurs:
		return f.Agent == process.Gone && (adopted || f.Half == evidence.NoServer)
	}
	return f.Agent == process.Gone && adopted && !f.Start
}

// factsOf returns what a view says about the session's life.
func factsOf(v view.View) Facts { return Facts{Now: v.Now, Agent: v.Agent, Half: v.Half, Fate: v.Fate} }

// young reports whether a time was a moment ago. A time in the future is not young: the clock was
// set back, and waiting until then might have no end.
func (f Facts) young(at time.Time) bool {
	age := f.Now.Sub(at)
	return age >= 0 && age < f.Grace
}

// unbound reports whether this is a launch whose window is not known.
func unbound(r session.Record) bool { return r.Binding == nil && r.State.Launching() }

// stepped reports whether there may be something left that a step would do for the session.
func stepped(r session.Record) bool { return lives(r) || len(r.News) > 0 }

// lives reports whether the session has not ended, or whether a tool of it may run.
func lives(r session.Record) bool { return !r.State.HasEnded() || len(r.Descendants) > 0 }
