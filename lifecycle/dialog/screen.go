package dialog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"ccbot/agent"
	"ccbot/internal/capture"
	"ccbot/internal/cellpicture"
	"ccbot/internal/pause"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/tmux"
)

// screenKeys are the keys that a person may press on a screen, by the names that Screen takes.
var screenKeys = func() map[string]tmux.Key {
	keys := maps.Clone(dialogKeys)
	keys["backtab"], keys["interrupt"] = tmux.KeyBackTab, tmux.KeyInterrupt
	return keys
}()

// Screen looks at the terminal and returns what it shows.
func (t *Session) Screen(ctx context.Context) (port.Screen, error) {
	d, err := t.Dialog(ctx)
	if err != nil {
		return port.Screen{}, err
	}
	now := port.Screen{Text: t.term.Styled, Whole: !d.Open || d.Whole, Unasked: d.Unasked}
	now.Fingerprint = fingerprintOf(t.term.Reader, *t.r, now)
	return now, nil
}

// PressOn presses a key on the screen that has the fingerprint, and returns what the terminal shows
// afterwards. The terminal is read right before the key: if the screen has another fingerprint, no
// key is pressed, and PressOn returns ErrChanged with the present screen. The other errors are
// those of Press. If the prompt box is open, the key goes there, as the person sees.
func (t *Session) PressOn(ctx context.Context, press port.KeyOn) (now port.Screen, err error) {
	k, known := screenKeys[press.Key]
	if !known {
		return port.Screen{}, fmt.Errorf("press %q: no such key", press.Key)
	}
	if now, err = t.Screen(ctx); err != nil {
		return now, err
	}
	if err = mayPressOn(t.term.View, now, press.Fingerprint, k); err != nil {
		return now, err
	}
	if err = t.term.Press(ctx, k); err != nil {
		return now, err
	}
	fingerprint := press.Fingerprint
	pause.Await(ctx, view.PollInterval, KeyWait, func() bool { // until the screen has changed and come to rest
		last := fingerprint
		now, err = t.Screen(ctx)
		fingerprint = now.Fingerprint
		return errors.Is(err, view.ErrNoAgent) || err == nil && fingerprint != press.Fingerprint && fingerprint == last
	})
	return now, err
}

// mayPressOn returns why a key may not be pressed on a screen. It is pure.
func mayPressOn(v view.View, now port.Screen, fingerprint string, k tmux.Key) error {
	switch {
	case v.State.Known == view.StateUnknown:
		return view.ErrUnseen
	case !view.IsUnchanged(fingerprint, now.Fingerprint, looks(k)), chooses(k) && !now.Whole:
		return ErrChanged
	case v.Relayed && chooses(k):
		return ErrRelayed
	case v.IsFresh(view.Drawn): // the screen may be older than that
		return ErrChanged
	case now.Unasked && chooses(k):
		return ErrRelayed
	}
	return nil
}

// fingerprintOf names what a screen shows and the process that shows it, without the parts that change
// by themselves, and without blank rows, which may come and go with them.
func fingerprintOf(reader agent.Reader, r session.Record, now port.Screen) string {
	var exactly, calm strings.Builder
	for _, row := range capture.Read(now.Text) {
		text, plain := "", true
		for _, c := range row {
			text += c.Text
			plain = plain && c.Text == " " && c.Paper == (cellpicture.Cell{}).Paper
		}
		steady := reader.Steady(text)
		if plain || steady == "" {
			continue
		}
		sign := row[0].Text == " " || !strings.HasPrefix(steady, row[0].Text) // shown or not at this moment
		if sign && row[0].Paper == (cellpicture.Cell{}).Paper {
			row[0] = cellpicture.Cell{Text: " "}
		}
		fmt.Fprintf(&exactly, "%v\n", row)
		for _, c := range row {
			if strings.ContainsFunc(c.Text, func(r rune) bool { return !view.Counts(r) }) {
				fmt.Fprintf(&calm, "%v", c)
			}
		}
		calm.WriteByte('\n')
	}
	of := ""
	if r.Binding != nil {
		of = r.Binding.Agent.String()
	}
	return view.Fingerprint(fmt.Sprintf("%s %t ", of, now.Whole), exactly.String(), calm.String())
}
