package lifecycle

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"ccbot/internal/logkey"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/evidence"
)

// writers finds and reports the other writers of a session's conversation, and is the gate before a
// resume.
type writers struct {
	*turn
	ender *ending.Session
}

// noticed reports whether second writers of a session can be distinguished from its own agent.
// While the session is being started or ended, its worker decides. If another session continues the
// conversation, or this session was set aside as too old, its second writers are not reported here.
func noticed(r session.Record) bool {
	return r.State != session.Stopping && r.Owns() && (!r.State.Live() || r.Binding != nil)
}

// noticeable returns a test for the sessions whose other writers have to be reported. A session
// that has ended leaves that to an open session with the same conversation.
func noticeable(records []session.Record) func(session.Record) bool {
	open := make(map[uuid.UUID]bool)
	for _, r := range records {
		if r.State.Live() {
			open[r.AgentSessionID] = true
		}
	}
	return func(r session.Record) bool { return noticed(r) && (r.State.Live() || !open[r.AgentSessionID]) }
}

// explained returns, for each conversation, up to which position its writers are known: another
// session may have had the conversation later, and ended later.
func explained(records []session.Record) map[uuid.UUID]int64 {
	known := make(map[uuid.UUID]int64)
	for _, r := range records {
		known[r.AgentSessionID] = max(known[r.AgentSessionID], r.TranscriptEnd, r.TranscriptKnown)
	}
	return known
}

// notice checks on the session's worker what is still true, and reports that.
func (w *writers) notice(ctx context.Context) error {
	all := w.Evidence.Records.Shared()
	known := explained(all)[w.r.AgentSessionID]
	if !noticeable(all)(*w.r) {
		return nil
	}
	found, err := w.Evidence.Settled(ctx, w.r.AgentSessionID)
	if err != nil {
		return err
	}
	fresh := found.Unreported(*w.r)
	if len(fresh) == 0 {
		if !w.HasGrown(*w.r, known) {
			return nil
		}
		if slices.ContainsFunc(found.OtherWriters(*w.r), func(v process.Verdict) bool { return v.Writer == process.Yes }) {
			w.r.GrowthReported = true // the writer was reported already
			return w.save()
		}
	}
	isJob := w.r.Attach != "" && len(w.r.SecondWriters) == 0 // the news of the end has said where it goes on
	if isJob || len(fresh) > 0 && w.reportedElsewhere(fresh) {
		return w.noteSecondWriters(fresh)
	}
	var who OtherWriters
	if len(fresh) > 0 { // then all writers are shown, also those that were reported before
		who = found.Describe(ctx, *w.r, found.OtherWriters(*w.r))
	}
	for _, v := range fresh {
		w.Log.Warn("second_writer", logkey.PID, v.Process.PID, logkey.SessionID, w.r.ID.String(), logkey.Why, v.Why)
	}
	if err := w.notify(ctx, who); err != nil {
		return err
	}
	return w.noteSecondWriters(fresh)
}

// noteSecondWriters puts on disk which second writers were reported to the person.
func (w *writers) noteSecondWriters(reported []process.Verdict) error {
	w.r.SecondWriters = w.Evidence.Living(w.r.SecondWriters)
	for _, v := range reported {
		if v.Writer == process.Yes && !slices.Contains(w.r.SecondWriters, v.Process.Identity) {
			w.r.SecondWriters = append(w.r.SecondWriters, v.Process.Identity)
		}
	}
	w.r.GrowthReported = !w.r.State.Live()
	return w.save()
}

// reportedElsewhere reports whether all of these processes were reported already, with another
// session of the same conversation.
func (w *writers) reportedElsewhere(fresh []process.Verdict) bool {
	var reported []process.Identity
	for _, r := range w.Evidence.Records.Shared() {
		if r.ID != w.r.ID && r.AgentSessionID == w.r.AgentSessionID {
			reported = append(reported, r.SecondWriters...)
		}
	}
	return !slices.ContainsFunc(fresh, func(v process.Verdict) bool { return !slices.Contains(reported, v.Process.Identity) })
}

// alone is the gate before every resume (P1). It ends the leftovers of the session, and refuses
// while any other process writes the conversation, or may write it.
func (w *writers) alone(ctx context.Context) (ended []ending.Ending, err error) {
	looked, _, err := w.ender.EndLeftovers(ctx)
	if err != nil {
		return nil, err
	}
	ended = slices.DeleteFunc(looked, func(e ending.Ending) bool { return !e.Ended || e.How == process.HowAlreadyGone })
	_, _ = w.ender.EndTools(ctx) // no tool of a leftover writes the conversation
	left, err := w.others(ctx)
	if err != nil {
		return ended, err
	}
	if len(left) > 0 {
		return ended, &WriterError{Writers: left}
	}
	return ended, nil
}

// others returns all writers that keep this session from having its conversation to itself. A
// person is about to be shown them, so from here on they count as reported.
func (w *writers) others(ctx context.Context) ([]evidence.Writer, error) {
	all, err := w.Evidence.Settled(ctx, w.r.AgentSessionID)
	if err != nil {
		return nil, err
	}
	return all.Writers(ctx, *w.r), w.noteUnreported(all)
}

// noteUnreported notes which writers the person is about to be shown.
func (w *writers) noteUnreported(all *evidence.Evidence) error {
	unreported := all.Unreported(*w.r)
	if len(unreported) == 0 {
		return nil
	}
	return w.noteSecondWriters(unreported)
}
