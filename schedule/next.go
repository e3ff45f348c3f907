package schedule

import (
	"time"

	"ccbot/internal/pause"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/outcome"
	"ccbot/port"
)

// seen is the state around a schedule at one time.
type seen struct {
	Known  bool // false: the session was forgotten
	Record session.Record
	Loop   bool         // a loop has the session
	Kept   bool         // the prompt of the run was kept, also if this is not on disk here
	Turn   outcome.Kind // of the run
}

// do is the next step of a Keeper.
type do string

const (
	doNothing do = ""       // wait
	doBegin   do = "begin"  // put the run on disk
	doSend    do = "send"   // queue its prompt
	doResume  do = "resume" // resume the session
	doOver    do = "over"   // the run is over
	doSkip    do = "skip"   // an occurrence is not sent
	doDrop    do = "drop"   // take the prompt back, if it is not typed
	doEnd     do = "end"    // the schedule ends
	doNote    do = "note"   // report that the clock went back
)

// act is one decision.
type act struct {
	Do do
	port.ScheduleReport
}

const (
	// punctual is the delay up to which an occurrence is neither missed nor late.
	punctual = 2 * time.Minute
	// orphanGrace is how long a schedule stays after the end of its session, which a person may undo.
	orphanGrace = 10 * time.Minute
	// mentionInterval is the time between two messages about a row of skipped runs.
	mentionInterval = 12 * time.Hour
	// mostTries limits how often a session is resumed for one run: it may end before it is ready.
	mostTries = 3
)

// next decides one step of a schedule. It is pure.
func next(s Schedule, v seen, now time.Time) act {
	state, back := v.Record.State, returns(v.Record)
	ends := !back && state.HasEnded()
	at, left := s.rule.due(s.Decided, now)
	due := act{Do: doSkip, ScheduleReport: port.ScheduleReport{At: at, Left: left}}
	switch {
	case s.Ended != "":
		return act{}
	case !v.Known:
		return act{Do: doEnd, ScheduleReport: port.ScheduleReport{Reason: port.SkipForgotten}}
	case ends && !now.Before(v.Record.EndedAt.Add(orphanGrace)):
		return act{Do: doEnd, ScheduleReport: port.ScheduleReport{Reason: port.SkipEnded}}
	case s.Barred && s.Run != nil:
		return s.drops()
	case s.Barred && !at.IsZero():
		due.Reason = port.SkipBarred
		return due
	case s.Barred:
		return act{}
	case s.Run != nil && s.Run.Sent && isOver(v.Turn):
		return act{Do: doOver}
	case v.Kept && !s.Run.Sent:
		return s.sends(now)
	case now.Add(punctual).Before(s.Decided) && !s.ClockBack.Equal(s.Decided):
		return act{Do: doNote, ScheduleReport: port.ScheduleReport{Reason: port.SkipClockBack, At: s.next()}}
	case !at.IsZero() && s.Run != nil:
		due.Reason = port.SkipBusy
		return due
	case !state.Open() && !back: // it ends, or a person may undo its end
		return act{}
	case !at.IsZero() && s.SkipMissed && now.Sub(at) > punctual:
		due.Reason = port.SkipMissed
		return due
	case !at.IsZero() && v.Loop:
		due.Reason = port.SkipLooped
		return due
	case !at.IsZero():
		due.Do = doBegin
		return due
	case s.Run == nil || s.Run.Sent:
		return act{}
	case v.Loop: // it began after the run
		return s.skips(port.SkipLooped)
	case back && s.Run.Tries >= mostTries:
		return s.skips(port.SkipNotStarted)
	case back && s.Run.waits(now):
		return act{}
	case back:
		return act{Do: doResume}
	case state == session.Running:
		return s.sends(now)
	}
	return act{} // it starts, or comes back
}

// drops takes the prompt of a run back, which is left out with that, unless the agent has it.
func (s *Schedule) drops() act {
	a := act{Do: doDrop}
	if s.Run.Typed == nil {
		a.ScheduleReport = port.ScheduleReport{At: s.Run.At, Left: s.Run.Left, Reason: port.SkipBarred}
	}
	return a
}

func (s *Schedule) sends(now time.Time) act {
	sent := port.ScheduleReport{At: s.Run.At, Left: s.Run.Left}
	if late := now.Sub(s.Run.At); late > punctual {
		sent.Late = late
	}
	return act{Do: doSend, ScheduleReport: sent}
}

// skips leaves out the prompt of the run.
func (s *Schedule) skips(why port.SkipReason) act {
	return act{Do: doSkip, ScheduleReport: port.ScheduleReport{Reason: why, At: s.Run.At, Left: s.Run.Left}}
}

// waits reports whether it is too early for the next try to resume the session. If the clock went
// back, it is not.
func (r *Run) waits(now time.Time) bool {
	since := now.Sub(r.Tried)
	return r.Tries > 0 && since >= 0 && since < pause.Doubled(time.Minute, time.Hour, r.Tries-1)
}

// returns reports whether a schedule resumes a session that has ended.
func returns(r session.Record) bool {
	switch {
	case r.State == session.Lost, r.State == session.Failed, r.Crashed():
		return r.State.HasEnded()
	case r.State != session.Archived:
		return false
	}
	for i := len(r.History) - 1; i >= 0; i-- {
		if r.History[i].To == session.Stopping {
			return r.History[i].Rule == lifecycle.RuleIdle
		}
	}
	return false
}

// isOver reports whether no answer to a prompt follows. A dialog and a question in the chat wait
// for a person.
func isOver(k outcome.Kind) bool {
	switch k {
	case outcome.Open, outcome.Asks, outcome.Unproven, outcome.Undecided:
		return false
	}
	return true
}

// after returns the report of a decision after the last one: runs that are skipped for the same
// reason are a row.
func (a act) after(last *port.ScheduleReport) port.ScheduleReport {
	r := a.ScheduleReport
	if a.Do != doSkip || last == nil || last.Reason != r.Reason {
		return r
	}
	r.Row = last.Row + 1
	mentioned := last.Mentioned
	if mentioned.IsZero() {
		mentioned = last.At
	}
	if r.At.Sub(mentioned) < mentionInterval {
		r.Mentioned = mentioned
	}
	return r
}

// apply changes a schedule by a decision. It is pure.
func (s *Schedule) apply(a act) {
	if a.At.After(s.Decided) && a.Do != doNote {
		s.Decided = a.At.UTC()
	}
	switch a.Do {
	case doBegin:
		s.Run = &Run{At: a.At.UTC(), Left: a.Left}
		return
	case doSend:
		s.Run.Sent = true
	case doSkip:
		if a.Reason != port.SkipBusy {
			s.Run = nil
		}
	case doOver, doDrop:
		if s.Run = nil; a.Reason == "" {
			return
		}
	case doEnd:
		s.Ended, s.Run = a.Reason, nil
	case doNote:
		s.ClockBack = s.Decided
	}
	if a.Reason == port.SkipBarred && !s.next().IsZero() { // people were told when it was barred
		last := a.after(s.Last)
		s.Last = &last
		return
	}
	s.Reports = append(s.Reports, a.after(s.Last))
	if a.Do != doNote {
		s.Last = &s.Reports[len(s.Reports)-1]
	}
}
