package lifecycle

import (
	"context"
	"strings"
	"time"

	"ccbot/bot/port/news"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

// reporter reports what the agent does and asks.
type reporter struct {
	*turn
	term   *terminal
	attach func(r session.Record) string
}

// shown returns what the terminal shows and asks, from the view of this step.
func (w *reporter) shown(screen string) news.Terminal {
	shown := news.Terminal{Screen: screen, Attach: w.attach(*w.r)}
	if d := dialogOf(*w.r, w.term.View); d.Open {
		shown.Dialog = &d
	}
	return shown
}

// tellDialog reports what the terminal asks, once for each dialog.
func (w *reporter) tellDialog(ctx context.Context) error {
	name := dialogName(w.term.Screen.Dialog)
	if w.recall().dialog.told == name {
		return nil
	}
	screen := w.term.Screen.Text
	if d := w.term.Screen.Dialog; d != nil {
		screen = strings.Join(d.Lines, "\n")
	}
	if err := w.tell(ctx, *w.r, news.Dialog{Terminal: w.shown(screen)}); err != nil {
		return err
	}
	w.remember(func(m *memory) { m.dialog.told = name })
	return nil
}

// noteOpen notes since when this process has seen the open dialog. The end of a request restarts
// that time, because the dialog closes a little after its request.
func (w *reporter) noteOpen() {
	name := ""
	if w.term.DialogOpen() {
		name = dialogName(w.term.Screen.Dialog)
	}
	w.remember(func(m *memory) {
		if m.dialog.open != name || m.dialog.asked && !w.term.Relayed {
			m.dialog.open, m.dialog.openAt = name, w.term.Now
		}
		m.dialog.asked = w.term.Relayed
		if name != "" {
			w.term.Since = m.dialog.openAt
		}
	})
}

// noteGone reports once that the question in the terminal is no longer open: the dialog that was
// reported, or the dialog of a waiting request. again is when that may be known; 0 means that
// nothing is awaited.
func (w *reporter) noteGone(ctx context.Context) (again time.Duration, err error) {
	m := w.recall()
	proven := dialogGone(w.term.View)
	gone := proven && !m.dialog.gone.Equal(w.term.Asked)
	// The chat would take the news for the end of the request as well.
	waits := w.term.Relayed && w.term.Agent == process.Alive && !proven
	closed := m.dialog.told != "" && dialogClosed(w.term.View) && !waits
	if !closed && !gone {
		if mayBeGone(w.term.View) && !proven {
			again = max(soon, w.term.Asked.Add(goneBy).Sub(w.term.Now)+time.Millisecond)
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
			m.dialog.gone = w.term.Asked
		}
	})
	return 0, nil
}

// tellSilent reports that the agent has not reported in, once per launch and run of ccbot.
func (w *reporter) tellSilent(ctx context.Context) error {
	if w.recall().unready {
		return nil
	}
	n := news.NotReporting{Waited: StartNotice, Terminal: w.shown(w.term.Screen.Text)}
	if err := w.tell(ctx, *w.r, n); err != nil {
		return err
	}
	w.remember(func(m *memory) { m.unready = true })
	return nil
}
