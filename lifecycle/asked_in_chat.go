package lifecycle

import (
	"cmp"
	"context"
	"time"

	"ccbot/bot/port/news"
	"ccbot/internal/presence"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

// relayGrace is how long a dialog is not reported while a hook of ccbot may still bring the same
// question to the chat: the hook has to start, and after a restart of ccbot it has to dial again.
const relayGrace = 5 * time.Second

// relayWait is how long the permission request for the open dialog may still take to arrive; 0
// means that none is expected. It is pure.
func relayWait(r session.Record, v View) time.Duration {
	hooked := !r.ReportsAt.IsZero() && !v.Adopted
	asks := v.Present && v.Presence.Status == presence.Waiting &&
		(v.Presence.WaitingFor == "permission prompt" || v.Presence.WaitingFor == "input needed")
	if !hooked || !asks || v.Since.IsZero() {
		return 0
	}
	return min(max(0, relayGrace-v.Now.Sub(v.Since)), relayGrace) // the upper bound: the clock may have been set back
}

// lookAtRequests notes which permission requests of the session's agent wait for the chat. A
// request of a subagent is noted separately: its dialog is drawn only after its hook has ended, so
// the request says nothing about the terminal.
func (o *Observer) lookAtRequests(r session.Record, v *View) {
	if o.Relays == nil {
		return
	}
	for _, q := range o.Relays.Waiting(r.ID) {
		switch {
		case q.Agent != r.Binding.Agent.Text(): // a request of an earlier launch: its hook outlived that agent
		case q.SubagentID != "":
			v.Below = cmp.Or(v.Below, q.Tool)
		default:
			if q.Asked.After(v.Asked) || !v.Relayed {
				v.Relayed, v.Asked, v.Tool = true, q.Asked, q.Tool
			}
		}
	}
}

// Once these times have passed, an agent that says that it does not wait has really moved on. They
// are needed because the presence file is written a little before or after the hook starts.
const (
	goneAfter = time.Second     // by which the presence file is newer than the newest request
	goneBy    = 3 * time.Second // the age of the newest request
)

// dialogGone says whether the dialogs of all waiting requests are proven gone. It is needed because
// a Yes or an answer in the terminal does not end the hook, while Esc and No do (2.1.328). It is
// pure.
func dialogGone(v View) bool {
	return mayBeGone(v) && (v.Presence.UpdatedAt.After(v.Asked.Add(goneAfter)) || v.Now.After(v.Asked.Add(goneBy)))
}

// mayBeGone says whether a request waits although the agent, by its presence file and on its
// screen, waits for nobody.
func mayBeGone(v View) bool {
	moved := v.Present && (v.Presence.Status == presence.Idle || v.Presence.Status == presence.Busy)
	return v.Relayed && v.Agent == process.Alive && moved && !v.DialogOpen()
}

// dialogClosed says whether it is certain that no dialog is open. It is pure.
func dialogClosed(v View) bool {
	over := v.Agent == process.Gone || v.Fate == PaneDead || v.Fate == PaneGone || v.Fate == PaneForeign
	known := v.Captured && v.Phase() != PhaseUnknown
	return over || known && !v.DialogOpen()
}

// noteOpen notes since when this process has seen the open dialog. The end of a request restarts
// that time, because the dialog closes a little after its request.
func (w *work) noteOpen() {
	name := ""
	if w.view.DialogOpen() {
		name = dialogName(w.view.Screen.Dialog)
	}
	w.remember(func(m *memory) {
		if m.dialog.open != name || m.dialog.asked && !w.view.Relayed {
			m.dialog.open, m.dialog.openAt = name, w.view.Now
		}
		m.dialog.asked = w.view.Relayed
		if name != "" {
			w.view.Since = m.dialog.openAt
		}
	})
}

// noteGone reports once that the question in the terminal is no longer open: the dialog that was
// reported, or the dialog of a waiting request. again is when that may be known; 0 means that
// nothing is awaited.
func (w *work) noteGone(ctx context.Context) (again time.Duration, err error) {
	m := w.recall()
	proven := dialogGone(w.view)
	gone := proven && !m.dialog.gone.Equal(w.view.Asked)
	// The chat would take the news for the end of the request as well.
	waits := w.view.Relayed && w.view.Agent == process.Alive && !proven
	closed := m.dialog.told != "" && dialogClosed(w.view) && !waits
	if !closed && !gone {
		if mayBeGone(w.view) && !proven {
			again = max(soon, w.view.Asked.Add(goneBy).Sub(w.view.Now)+time.Millisecond)
		}
		return again, nil
	}
	if err := w.tell(ctx, *w.r, news.DialogGone{}); err != nil {
		return 0, err
	}
	w.remember(func(m *memory) {
		if closed {
			m.dialog.told = ""
		}
		if gone {
			m.dialog.gone = w.view.Asked
		}
	})
	return 0, nil
}

// sooner returns the shorter of two waits; 0 is no wait.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
