package recovery

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"ccbot/internal/logkey"
	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/tmux"
)

// Report describes the findings and results of a recovery.
type Report struct {
	At      time.Time
	Took    time.Duration
	Records int
	States  map[session.State]int // after the recovery
	Ages    []AgeBucket           // of the open sessions, since their last sign of life
	Results []Result
	Notices []Notice
	Booted  time.Time // when the machine was started; zero: not known
	Backup  string    // the name of the backup that was made first; empty: nothing had to change
}

// Result is the result of one action.
type Result struct {
	Action Action
	Err    error
	Took   time.Duration
	Ended  []ending.Ending
}

// AgeBucket counts sessions with an age of at most UpTo; 0 means without limit.
type AgeBucket struct {
	UpTo  time.Duration
	Count int
}

const day = 24 * time.Hour

// ages returns empty buckets.
func ages() []AgeBucket {
	return []AgeBucket{{UpTo: time.Hour}, {UpTo: day}, {UpTo: 7 * day}, {UpTo: 30 * day}, {}}
}

// finish counts the records after a recovery, and logs the result.
func (v *Recovery) finish(report *Report, w World) {
	report.States, report.Ages = make(map[session.State]int), ages()
	for _, r := range v.Store.Shared() {
		report.Records++
		report.States[r.State]++
		if r.State.Live() {
			sign := signOf(r)
			sign.newer(w.Signs[r.ID].At, w.Signs[r.ID].Of)
			age := w.Now.Sub(sign.At)
			report.Ages[slices.IndexFunc(report.Ages, func(b AgeBucket) bool { return b.UpTo == 0 || age <= b.UpTo })].Count++
		}
	}
	report.Took = v.Now().Sub(report.At)
	failed := 0
	for _, result := range report.Results {
		if result.Err != nil {
			failed++
		}
	}
	v.Log.Info("recovery_done", logkey.Duration, report.Took, logkey.Records, report.Records, logkey.States, states(report.States),
		logkey.Ages, slog.GroupValue(ageAttrs(report.Ages)...), logkey.Actions, len(report.Results),
		logkey.Succeeded, len(report.Results)-failed, logkey.Failed, failed, logkey.Notices, len(report.Notices), logkey.Backup, report.Backup)
}

// states and ageAttrs make log groups from the counts, in a fixed order.
func states(counts map[session.State]int) slog.Value {
	var attrs []slog.Attr
	for _, s := range session.States() {
		if counts[s] > 0 {
			attrs = append(attrs, slog.Int(string(s), counts[s])) //nolint:sloglint // the key is the name of a state
		}
	}
	return slog.GroupValue(attrs...)
}

func ageAttrs(buckets []AgeBucket) (attrs []slog.Attr) {
	for _, b := range buckets {
		name := "older"
		if b.UpTo > 0 {
			name = "up_to_" + span(b.UpTo)
		}
		attrs = append(attrs, slog.Int(name, b.Count)) //nolint:sloglint // the key is the name of a span
	}
	return attrs
}

// writtenIn returns, for each orphan window, the conversation that a process in it is proven to
// write.
func writtenIn(ctx context.Context, v *Recovery, notices []Notice) map[tmux.WindowID]string {
	written := make(map[tmux.WindowID]string)
	if !slices.ContainsFunc(notices, func(n Notice) bool { return n.Kind == OrphanWindow }) {
		return written
	}
	windows, err := v.Orphans(ctx)
	if err != nil {
		v.Log.Debug("orphans_unknown", logkey.Error, err)
	}
	for _, w := range windows {
		if w.Agent != nil {
			written[w.Pane.Window] = w.Agent.AgentSessionID.String()
		}
	}
	return written
}

// notify logs a notice.
func (v *Recovery) notify(n Notice, written map[tmux.WindowID]string) {
	switch n.Kind {
	case OrphanWindow:
		v.Log.Warn("orphan_window", logkey.WindowID, n.Pane.Window.String(), logkey.Name, n.Pane.WindowName,
			logkey.SessionID, cmp.Or(written[n.Pane.Window], "unknown"), logkey.Note, n.Why)
	case StaleWindow:
		v.Log.Info("Dropping stale window_state", logkey.WindowID, n.Window, logkey.SessionID, n.Record.String())
	case Pending:
		v.Log.Info("cleanup_pending", logkey.SessionID, n.Record.String(), logkey.Why, n.Why)
	case Unreadable:
		v.Log.Warn("session_record_left", logkey.File, n.File, logkey.Kind, string(n.Kind), logkey.Why, n.Why)
	default:
		v.Log.Warn("session_unclear", logkey.SessionID, n.Record.String(), logkey.Why, n.Why)
	}
}
