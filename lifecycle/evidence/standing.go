package evidence

import (
	"slices"

	"github.com/google/uuid"

	"ccbot/internal/claudeflags"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

// Standing is what a process that writes a conversation, or may, is to the
// conversation's session.
type Standing int

const (
	Unclear  Standing = iota // nobody knows whether it writes: it is neither ended nor passed over
	Agent                    // the session's bound agent
	Leftover                 // left of the session's own life: it ends with it
	Second                   // anybody else: told, and ended only by a person's tap
)

// StandingOf distinguishes a leftover from somebody who came later or from elsewhere. It
// is pure.
//
// A leftover is an agent that the record itself bound, or a proven writer that
// was started for this conversation before the session's end and was never told
// as a second writer. One that was there before the session came to the
// conversation (through /resume inside its window) is somebody else's. One that
// came to the conversation later, through /resume inside another session, does not
// show it on its command line: it is nobody's leftover, whenever it started. And
// what a session had bound that was given up because nothing was known of it is
// none: unknown ends nothing.
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

// EndOf is the moment from which on whoever starts a process does it knowing
// that the session is over; over is false while it is not. A stop is over when it
// is asked for: its window closes at once, its agent may need many seconds more,
// and a person may go on at the desk meanwhile.
func EndOf(r session.Record) (end process.Moment, over bool) {
	switch {
	case !r.State.Live(), r.Interrupted(): // what is being restored has no agent yet
		return r.Ended, true
	case r.State == session.Stopping && r.Cleanup != nil: // another try
		return r.Ended, true
	case r.State == session.Stopping:
		return r.Asked, true
	}
	return process.Moment{}, false
}
