package dialog

import (
	"time"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/talk"
)

// State holds what is known of the dialogs of one agent between turns. The zero value knows none.
type State struct {
	reported  string    // the dialog that was reported
	unready   bool      // it was reported that the agent is not ready
	open      string    // the dialog that is open
	openAt    time.Time // since when this process has seen the dialog without a request
	drawn     settling  // the dialog to report
	requested bool      // a request waited in the chat at the last check
	gone      time.Time // View.RequestedAt of the newest request whose dialog was reported as gone
}

// NoteOpen notes since when this process has seen the open dialog, and whether the dialog still
// changes, and sets Since and Settles of the view. The end of a request restarts the first time,
// because the dialog closes a little after its request. early says that it is too early to report
// an agent that is not ready.
func (m *State) NoteOpen(r session.Record, v *view.View, early bool) {
	name := ""
	if v.DialogOpen() {
		name = view.DialogName(v.Screen.Dialog)
	}
	if m.open != name || m.requested && !v.Relayed {
		m.open, m.openAt = name, v.Now
	}
	m.requested = v.Relayed
	if name != "" {
		v.Since = m.openAt
	}
	reported := m.reported == name
	if name == "" { // an agent that is not ready is reported with its screen
		reported = m.unready || early
	}
	d := view.DialogOf(r, *v)
	if !d.Open || reported || v.Relayed || RelayWait(r, *v) > 0 {
		m.drawn = settling{}
		return
	}
	v.Settles = m.drawn.add(d.Fingerprint, v.Now)
}

// NoteKey notes what the chat shows after a key that was tapped for the dialog with this
// fingerprint. If the terminal asks something else now, the message of the tap is closed, and the
// next dialog counts as not reported.
func (m *State) NoteKey(v view.View, fingerprint string, now port.Dialog) {
	switch {
	case !now.Open || now.Fingerprint == fingerprint:
	case !now.Same:
		m.reported, m.unready = "", false
	case v.DialogOpen():
		m.reported = view.DialogName(v.Screen.Dialog)
	}
}

// IsReported reports whether the open dialog was reported.
func (m *State) IsReported(v view.View) bool { return m.reported == view.DialogName(v.Screen.Dialog) }

// NoteReported notes that the open dialog was reported.
func (m *State) NoteReported(v view.View) { m.reported = view.DialogName(v.Screen.Dialog) }

// IsUnreadyReported reports whether it was reported that the agent is not ready.
func (m *State) IsUnreadyReported() bool { return m.unready }

// NoteUnreadyReported notes that it was reported that the agent is not ready.
func (m *State) NoteUnreadyReported() { m.unready = true }

// End is the end of a question in the terminal that was not reported yet.
type End struct {
	closed bool      // of the dialog that was reported
	gone   time.Time // View.RequestedAt, if the dialog of that request is gone
	// Again is when more may be known; 0 means that nothing is awaited.
	Again time.Duration
}

// IsNews reports whether a question is no longer open.
func (e End) IsNews() bool { return e.closed || !e.gone.IsZero() }

// End returns what has ended: the dialog that was reported, or the dialog of a waiting request.
func (m *State) End(v view.View) (e End) {
	proven := view.IsDialogGone(v)
	if proven && !m.gone.Equal(v.RequestedAt) {
		e.gone = v.RequestedAt
	}
	// The chat would take the news for the end of the request as well.
	waits := v.Relayed && v.Agent == process.Alive && !proven
	e.closed = m.reported != "" && view.IsDialogClosed(v) && !waits
	if !e.IsNews() && view.MayDialogBeGone(v) && !proven {
		e.Again = max(view.Soon, v.RequestedAt.Add(view.GoneBy).Sub(v.Now)+time.Millisecond)
	}
	return e
}

// NoteEnd notes that an end was reported.
func (m *State) NoteEnd(e End) {
	if e.closed {
		m.reported = ""
	}
	if !e.gone.IsZero() {
		m.gone = e.gone
	}
}

const (
	Rest        = 200 * time.Millisecond // a dialog that shows the same for so long is reported
	RestTimeout = 2 * time.Second        // a dialog that never rests is reported after this time
)

// settling notes the captures of a dialog that is not reported yet. The zero value has no capture.
type settling struct {
	fingerprint   string    // of the last capture
	fingerprintAt time.Time // of the first capture with this fingerprint
	since         time.Time // of the first capture
}

// add notes a capture and returns how long to wait before the dialog is reported; 0 means that the
// dialog rests.
func (s *settling) add(fingerprint string, now time.Time) (wait time.Duration) {
	if s.fingerprint == "" || now.Before(s.fingerprintAt) { // or the clock was set back
		s.since = now
		s.fingerprint = ""
	}
	if s.fingerprint != fingerprint {
		s.fingerprint, s.fingerprintAt = fingerprint, now
	}
	return max(0, min(Rest-now.Sub(s.fingerprintAt), RestTimeout-now.Sub(s.since)))
}

// RelayGrace is how long a dialog is not reported while the chat may have the same question from a
// hook of ccbot: the hook has to start, after a restart of ccbot it has to dial again, and a slow
// terminal shows a dialog that was answered for some time.
const RelayGrace = 5 * time.Second

// RelayWait is how long the permission request for the open dialog may still take to arrive; 0
// means that none is expected. It is pure.
func RelayWait(r session.Record, v view.View) time.Duration {
	if !view.HasRelay(r, v) || !mayBeRelayed(r, v) || v.Since.IsZero() {
		return 0
	}
	return min(max(0, RelayGrace-v.Now.Sub(v.Since)), RelayGrace) // the upper bound: the clock may have been set back
}

// mayBeRelayed reports whether the dialog may be one that a hook brings, by what the agent says that
// it asks. While it works it asks nothing: a slow screen still shows what was answered. If it says nothing,
// the dialog shows it.
func mayBeRelayed(r session.Record, v view.View) bool {
	if v.State.IsUnclear() {
		return true
	}
	if v.State.Phase.Waiting() {
		return v.State.Asks == view.AsksPermission || v.State.Asks == view.AsksAnswer
	}
	if v.State.Phase == talk.PhaseIdle || r.State.Launching() {
		return false
	}
	d := v.Screen.Dialog
	return d != nil && (v.State.Phase == talk.PhaseWorking || d.Permits || d.Question)
}
