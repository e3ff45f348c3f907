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

// relayGrace is how long a dialog is not told that a hook of ours asks the chat
// about: the hook has to start, and after a restart of ccbot to dial again.
const relayGrace = 5 * time.Second

// relayWait is how long a permission request for the open dialog may still take
// to come; 0: none is expected. It is pure.
func relayWait(r session.Record, v View) time.Duration {
	hooked := !r.ReportsAt.IsZero() && !v.Adopted
	asks := v.Present && v.Presence.Status == presence.Waiting &&
		(v.Presence.WaitingFor == "permission prompt" || v.Presence.WaitingFor == "input needed")
	if !hooked || !asks || v.Since.IsZero() {
		return 0
	}
	return min(max(0, relayGrace-v.Now.Sub(v.Since)), relayGrace) // or the clock was set back
}

// lookAtRequests notes which permission requests of the session's agent wait for
// the chat. A subagent's stands apart: its dialog is not drawn before its hook has
// ended, so it says nothing of the terminal.
func (o *Observer) lookAtRequests(r session.Record, v *View) {
	if o.Relays == nil {
		return
	}
	for _, q := range o.Relays.Waiting(r.ID) {
		switch {
		case q.Agent != r.Binding.Agent.Text(): // of an earlier launch, whose hook outlived it
		case q.SubagentID != "":
			v.Below = cmp.Or(v.Below, q.Tool)
		default:
			if q.Asked.After(v.Asked) || !v.Relayed {
				v.Relayed, v.Asked, v.Tool = true, q.Asked, q.Tool
			}
		}
	}
}

// Ages at which an agent that says that it does not wait has really moved on:
// presence is written about when the hook starts, a little before or after it.
const (
	goneAfter = time.Second     // of the presence file, counted from the newest request
	goneBy    = 3 * time.Second // of the newest request itself
)

// dialogGone says whether the dialogs of all requests that wait are proven gone:
// a Yes or an answer at the desk ends no hook, while Esc and No do (2.1.328). It
// is pure.
func dialogGone(v View) bool {
	return mayBeGone(v) && (v.Presence.UpdatedAt.After(v.Asked.Add(goneAfter)) || v.Now.After(v.Asked.Add(goneBy)))
}

// mayBeGone says whether the agent waits for nobody, by its own word and on the
// screen, while a request waits.
func mayBeGone(v View) bool {
	moved := v.Present && (v.Presence.Status == presence.Idle || v.Presence.Status == presence.Busy)
	return v.Relayed && v.Agent == process.Alive && moved && !v.DialogOpen()
}

// dialogClosed says whether no dialog is open for certain. It is pure.
func dialogClosed(v View) bool {
	over := v.Agent == process.Gone || v.Fate == PaneDead || v.Fate == PaneGone || v.Fate == PaneForeign
	known := v.Captured && v.Phase() != PhaseUnknown
	return over || known && !v.DialogOpen()
}

// noteOpen dates the dialog that is open from when this process first saw it. The
// end of a request dates it anew: its dialog closes a little later.
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

// noteGone tells once that what the terminal asked is not open any more: what
// was told, or what a request waits for. again is when that may be known, 0 when
// nothing is awaited.
func (w *work) noteGone(ctx context.Context) (again time.Duration, err error) {
	m := w.recall()
	proven := dialogGone(w.view)
	gone := proven && !m.dialog.gone.Equal(w.view.Asked)
	waits := w.view.Relayed && w.view.Agent == process.Alive && !proven // the news would be taken to be of the request too
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

// sooner is the earlier of two looks, where 0 is none.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
