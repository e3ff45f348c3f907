package lifecycle

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/port/desk"
	"ccbot/internal/capture"
	"ccbot/internal/cellpicture"
	"ccbot/internal/claudeui"
	"ccbot/internal/session"
	"ccbot/tmux"
)

// Screen is what a session's terminal shows.
type Screen = desk.Screen

// screenKeys are the keys that a person may press on a screen, by the names that Screen takes.
var screenKeys = func() map[string]tmux.Key {
	keys := maps.Clone(dialogKeys)
	keys["backtab"], keys["interrupt"] = tmux.KeyBackTab, tmux.KeyInterrupt
	return keys
}()

// KeyOn is a key for one screen.
type KeyOn = desk.KeyOn

// Panes are the terminals of sessions, with all keys.
type Panes struct{ Service *Service }

// Screen returns what a session's terminal shows, after a key if one is to be pressed. The terminal
// is looked at right before the key: if the screen has another mark, no key is pressed, and Screen
// returns ErrChanged with the screen as it is now. The other errors are those of Press. Where the
// prompt box is open, the key goes there, as the person sees.
func (p Panes) Screen(ctx context.Context, id uuid.UUID, press KeyOn) (now Screen, err error) {
	s := p.Service
	r, ok := s.kit.Store.Get(id)
	k, known := screenKeys[press.Key]
	switch {
	case !ok:
		return Screen{}, session.ErrNotFound
	case press.Key == "":
		w := &work{kit: s.kit, r: &r}
		return w.lookAtScreen(ctx)
	case !known:
		return Screen{}, fmt.Errorf("press %q: no such key", press.Key)
	}
	defer s.Wake(id)
	err = s.kit.do(ctx, id, func(w *work) (err error) {
		if now, err = w.lookAtScreen(ctx); err != nil {
			return err
		}
		if err = mayPressOn(w.view, now, press.Mark, k); err != nil {
			return err
		}
		if err = w.pressKey(ctx, k); err != nil {
			return err
		}
		mark := press.Mark
		await(ctx, lookPace, keyWait, func() bool { // until the screen has changed and come to rest
			last := mark
			now, err = w.lookAtScreen(ctx)
			mark = now.Mark
			return errors.Is(err, ErrNoAgent) || err == nil && mark != press.Mark && mark == last
		})
		return err
	})
	return now, err
}

// lookAtScreen looks at the terminal, on the caller's turn, and returns what it shows.
func (w *work) lookAtScreen(ctx context.Context) (Screen, error) {
	d, err := w.lookAtDialog(ctx)
	if err != nil {
		return Screen{}, err
	}
	now := Screen{Text: w.view.Shown, Whole: !d.Open || d.Whole}
	now.Mark = screenMark(*w.r, now)
	return now, nil
}

// mayPressOn says why a key may not be pressed on a screen. It is pure.
func mayPressOn(v View, now Screen, mark string, k tmux.Key) error {
	chooses := k == keyEnter || k == tmux.KeySpace || k == tmux.KeyTab || k == tmux.KeyBackTab
	switch {
	case v.Present && v.Presence.Status == "": // the presence file cannot be read
		return ErrUnseen
	case now.Mark != mark, chooses && !now.Whole:
		return ErrChanged
	case v.Relayed && k == keyEnter:
		return ErrRelayed
	case v.Present && v.Now.Sub(v.Presence.UpdatedAt) < drawn: // the screen may be older than that
		return ErrChanged
	}
	return nil
}

// screenMark returns a hash of what a screen shows and of the process that shows it, without the
// parts that change by themselves: the spinner's row, the blinking sign before a running tool, and
// blank rows, which come and go with the spinner.
func screenMark(r session.Record, now Screen) string {
	h := sha256.New()
	if r.Binding != nil {
		fmt.Fprintf(h, "%s ", r.Binding.Agent)
	}
	fmt.Fprintf(h, "%t ", now.Whole)
	for _, row := range capture.Read(now.Text) {
		text, plain := "", true
		for _, c := range row {
			text += c.Text
			plain = plain && c.Text == " " && c.Paper == (cellpicture.Cell{}).Paper
		}
		if plain || claudeui.IsSpinner(text) {
			continue
		}
		if strings.Contains("●⏺ ", row[0].Text) && row[0].Paper == (cellpicture.Cell{}).Paper {
			row[0] = cellpicture.Cell{Text: " "}
		}
		fmt.Fprintf(h, "%v\n", row)
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:9])
}
