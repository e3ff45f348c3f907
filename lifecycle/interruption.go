package lifecycle

import (
	"time"

	"ccbot/internal/claudeflags"
	"ccbot/internal/presence"
	"ccbot/internal/session"
)

// unseenFor is how long an agent may have worked while no ccbot ran before that counts: the time at
// which the previous ccbot was last there is known only to the minute.
const unseenFor = time.Minute

// interruption decides whether the end of an agent has cut a turn short. If it has not,
// interruption returns the one that the record already has. It is for an end that nobody asked for.
// It is pure. The following is known from 2.1.329: TERM, HUP, KILL and the end of the tmux server
// write neither the end of a turn nor an interrupt into the transcript, and only after KILL the
// presence file remains, with the last status.
//
//	a clean exit                             no: a person has left the agent
//	it waits for a person                    yes, unless the turn has ended since
//	it works                                 yes, unless the turn has ended since
//	it is idle, or that was never seen       yes, if a turn has begun since
//
// last is the presence file that the agent has left, the zero value if there is none. seen is the
// time until which a ccbot saw what the agent did.
func interruption(r session.Record, last presence.File, seen, now time.Time) *session.Interruption {
	phase, works, since := Phase(r.Phase), Noted(r).Works(), r.PhaseAt
	if word := phaseOf(last); word != PhaseUnknown && !last.UpdatedAt.Before(since) {
		phase, works, since = word, word == PhaseWorking, last.UpdatedAt
	}
	if r.StartedAt.After(since) {
		since = r.StartedAt // a turn that was open before the present launch belongs to an earlier interruption
	}
	open := r.Progress.Open
	if i := r.Interruption; i != nil && i.At.After(r.StartedAt) {
		return i // a crash came between noting the interruption and the session's end: each launch is interrupted only once
	}
	began := open != nil && open.At.After(since)
	ended := open == nil && r.Progress.LastTurn.After(since)
	busy := (phase.Waiting() || works) && !ended
	if r.Exit != nil && r.Exit.Known && !r.Exit.Crashed() || !busy && !began {
		return r.Interruption
	}
	i := &session.Interruption{At: now.UTC(), Tasks: len(r.Progress.Tasks), Waited: phase.Waiting(), Well: r.Progress.Well}
	for _, task := range r.Progress.Tasks {
		if task.Status == "completed" {
			i.Done++
		}
	}
	if open != nil {
		i.Step = open.Step
		i.Unseen = last.UpdatedAt.IsZero() && open.At.After(seen.Add(unseenFor))
	}
	if before := r.Interruption; before != nil {
		i.Again = before.Followed && before.Well == i.Well
	}
	return i
}

// ContinuesAlone says whether a session may continue by itself after its interruption: the agent
// was seen at work and not waiting for a person, it asks before it acts, and it is not interrupted
// again and again without a turn that ends well in between.
func ContinuesAlone(r session.Record) bool {
	i := r.Unfinished()
	if i == nil || i.Waited || i.Unseen || i.Again || r.Progress.PermissionMode == claudeflags.ModeBypass {
		return false
	}
	return r.Launch != nil && !r.Launch.Bypasses()
}
