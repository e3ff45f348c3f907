package evidence

import (
	"slices"

	"github.com/google/uuid"

	"ccbot/internal/claudeflags"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

// Standing says what a process that writes a conversation, or may write it, is to the session that
// has the conversation.
type Standing int

const (
	Unclear  Standing = iota // it is unknown whether the process writes: it is neither ended nor ignored
	Agent                    // the session's bound agent
	Leftover                 // left over from the session's own life: it ends with the session
	Second                   // any other process: it is reported, and ended only by a person's tap
)

// StandingOf distinguishes a leftover of a session from a process that came later or from
// elsewhere. It is pure.
//
// A leftover is either an agent that the record itself bound, or a proven writer that was started
// for this conversation before the session's end and was never reported as a second writer. Three
// kinds of processes are not leftovers. A process that was there before the session came to the
// conversation (through /resume inside its window) belongs to somebody else. A process that came to
// the conversation later, through /resume inside another session, does not name it on its command
// line: it is not a leftover, whenever it started. And if a session was given up because nothing
// was known of it, the processes that it had bound are not leftovers: unknown ends nothing.
func StandingOf(r session.Record, v process.Verdict) Standing {
	who := v.Process.Identity
	end, over := EndOf(r)
	switch {
	case r.Binding != nil && r.Binding.Agent == who:
		return Agent
	case slices.Contains(r.Bound, who) && r.State != session.Abandoned:
		return Leftover
	case v.Writer != process.Yes:
		return Unclear
	case slices.Contains(r.Bound, who):
		return Second
	case slices.Contains(r.Seconds, who), !StartedFor(v.Process, v.SessionID), who.StartedAfter(r.Since) == process.No:
		return Second
	case over && who.StartedAfter(end) != process.No:
		return Second
	}
	return Leftover
}

// StartedFor says whether the command line of a process names the conversation.
func StartedFor(p process.Process, claudeID uuid.UUID) bool {
	named, ok := claudeflags.Session(p.Args)
	return ok && named == claudeID
}

// EndOf returns the moment from which on a person who starts a process knows that the session is
// over; over is false while the session is not over. A stop counts as over when it is asked for:
// its window closes at once, but its agent may need many seconds more, and a person may continue in
// a terminal during that time.
func EndOf(r session.Record) (end process.Moment, over bool) {
	switch {
	case !r.State.Live(), r.Interrupted(): // a session that is being restored has no agent yet
		return r.Ended, true
	case r.State == session.Stopping && r.Cleanup != nil: // another try of a cleanup
		return r.Ended, true
	case r.State == session.Stopping:
		return r.Asked, true
	}
	return process.Moment{}, false
}
