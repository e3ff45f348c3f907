package dialog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/session"
	"ccbot/lifecycle/modekeys"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/tmux"
)

// Switching makes an agent use the requested mode and model, in one turn of the session's worker.
type Switching struct {
	turn    typing.Turn
	r       *session.Record
	o       *view.Observer
	term    *typing.Terminal
	dialogs *Session
	// Again is the earliest time of the next check.
	Again time.Duration
}

// SwitchingOf returns the modes and models of a session. term is the session's terminal.
func SwitchingOf(turn typing.Turn, o *view.Observer, term *typing.Terminal) *Switching {
	return &Switching{turn: turn, r: turn.Record, o: o, term: term, dialogs: Of(turn.Record, term)}
}

// Request notes what a person wants the present agent to run with, and returns what it runs with
// now. Grant carries the request out. An empty request changes nothing.
func (w *Switching) Request(ctx context.Context, want port.ModeChange) (now port.ModeState, err error) {
	if now, err = RunsWith(ctx, w.o, w.r, w.term); err != nil || want == (port.ModeChange{}) {
		return now, err
	}
	request := session.ModeRequest{Agent: w.r.Binding.Agent}
	if w.r.ModeRequest != nil && w.r.ModeRequest.Agent == request.Agent {
		request = *w.r.ModeRequest
	}
	request = modekeys.Add(request, want)
	request.Waits = now.Waits
	w.r.ModeRequest, now.Want = &request, modeChangeOf(&request)
	if err := w.turn.Save(); err != nil {
		return now, err
	}
	w.turn.At("wish-saved")
	return now, nil
}

// RunsWith looks at what an agent runs with: its mode is on the screen, its model in the status
// line. The transcript only has the model of the last answer.
func RunsWith(ctx context.Context, o *view.Observer, r *session.Record, term *typing.Terminal) (now port.ModeState, err error) {
	switch {
	case r.State.Launching():
		return now, view.ErrUnseen
	case r.State != session.Running || r.Binding == nil:
		return now, view.ErrNoAgent
	}
	term.Refresh(ctx)
	if err := term.CheckVisible(); err != nil {
		return now, err
	}
	now = port.ModeState{Mode: port.Mode(term.Screen.Mode), Waits: !TakesModeKeys(*r, term.View)}
	if u := o.Usage(*r); u != nil {
		now.Model = u.Model
	}
	if r.ModeRequest != nil && r.ModeRequest.Agent == r.Binding.Agent {
		now.Want = modeChangeOf(r.ModeRequest)
		now.Waits = now.Waits && !OwnModels(*r, term.View)
	}
	return now, nil
}

func modeChangeOf(w *session.ModeRequest) port.ModeChange {
	return port.ModeChange{Mode: port.Mode(w.Mode), Model: w.Model}
}

// modeWait is how long a terminal may take to show what a key has switched. A busy machine needs
// some seconds to draw the list of models.
const modeWait = 15 * time.Second

// Grant carries out what a person wants the agent to run with, as far as that can be done now.
func (w *Switching) Grant(ctx context.Context) error {
	if w.r.ModeRequest.Agent != w.r.Binding.Agent {
		return w.granted(ctx, port.SwitchNewAgent)
	}
	if w.readScreen(ctx); w.r.ModeRequest.Listed && modelsClosed(w.term.View) {
		if err := w.forgetModels(); err != nil {
			return err
		}
	}
	for {
		var act modekeys.Act
		var outcome port.SwitchOutcome
		pause.Await(ctx, view.PollInterval, KeyWait, func() bool { // the screen may be a little older
			act, outcome = modekeys.Decide(*w.r.ModeRequest, w.readScreen(ctx))
			return act != modekeys.Wait && outcome != port.SwitchUnread
		})
		if ctx.Err() != nil || act == modekeys.Wait {
			return ctx.Err()
		}
		if act == modekeys.Finished {
			return w.granted(ctx, outcome)
		}
		if pressed, err := w.pressKey(ctx, act); err != nil || !pressed {
			return err
		}
	}
}

func (w *Switching) readScreen(ctx context.Context) modekeys.Screen {
	w.term.Refresh(ctx)
	v := w.term.View
	l := modekeys.Screen{Free: TakesModeKeys(*w.r, v), Mode: v.Screen.Mode, Listed: OwnModels(*w.r, v),
		Early: v.IsFresh(view.Drawn), Flat: v.Screen.Flat}
	if l.Listed {
		l.List, l.Whole = *v.Screen.Models, v.Screen.Dialog.Whole
	}
	return l
}

// pressKey presses the next key. The key is noted on disk first, and the screen is checked
// again right before it. pressed is false if something came in between, or if the request ends
// because the agent did not take the key: then no other key may follow, because it may still take
// this one.
func (w *Switching) pressKey(ctx context.Context, act modekeys.Act) (pressed bool, err error) {
	if act == modekeys.Choose {
		if err := w.moveToModel(ctx); err != nil {
			w.Again = view.Soon
			return false, errors.Join(err, w.closeModels(ctx))
		}
	}
	before, mode := *w.r.ModeRequest, w.term.Screen.Mode
	key := modekeys.Note(w.r.ModeRequest, act, mode, w.o.Agents.Of(w.r.AgentName).Manners)
	w.r.Upkeep() // tmux may refuse the key again and again
	if err := w.turn.Save(); err != nil {
		return false, err
	}
	w.turn.At("wish-marked")
	now, _ := modekeys.Decide(before, w.readScreen(ctx)) // writing to disk took time
	err, again := tmux.ErrGuard, view.Soon
	if now == act && w.term.Screen.Mode == mode &&
		(act != modekeys.Choose || w.term.Screen.Dialog.Selected == w.wanted()) {
		again = view.HoldPace // a state that only tmux knows, such as synchronised panes, may last
		err = w.term.Press(ctx, key)
	}
	if errors.Is(err, tmux.ErrGuard) { // it was not pressed
		w.Again, w.r.ModeRequest = again, &before
		w.r.Upkeep()
		return false, w.turn.Save()
	}
	if err != nil {
		return false, err
	}
	w.turn.At("wish-pressed")
	switch seen := w.seeSwitch(ctx, act, mode); {
	case !seen:
		return false, w.granted(ctx, port.SwitchNotTaken)
	case act == modekeys.Choose:
		return true, w.forgetModels()
	}
	return true, nil
}

// seeSwitch waits until the screen shows what a key has done.
func (w *Switching) seeSwitch(ctx context.Context, act modekeys.Act, mode string) bool {
	return pause.Await(ctx, view.PollInterval, modeWait, func() bool {
		l := w.readScreen(ctx)
		switch act {
		case modekeys.Mode:
			return l.Mode != "" && l.Mode != mode || w.term.DialogOpen()
		case modekeys.Open:
			return l.Listed
		}
		return modelsClosed(w.term.View)
	})
}

// moveToModel moves the cursor of the list to the wanted model.
func (w *Switching) moveToModel(ctx context.Context) error {
	asked := w.term.Screen.Dialog
	_, err := w.dialogs.moveTo(ctx, asked, view.DialogOf(*w.r, w.term.View), w.wanted())
	if errors.Is(err, ErrChanged) {
		return w.closeModels(ctx) // the next step opens it again, or finds that it is gone
	}
	return err
}

// wanted returns the place of the wanted model in the list that the screen shows.
func (w *Switching) wanted() int { return modekeys.Find(*w.term.Screen.Models, w.r.ModeRequest.Model) }

// closeModels closes the list of models, if it is open.
func (w *Switching) closeModels(ctx context.Context) error {
	if !w.readScreen(ctx).Listed {
		return nil
	}
	err := w.term.Press(ctx, tmux.KeyEscape)
	if err != nil && !errors.Is(err, tmux.ErrGuard) {
		return fmt.Errorf("close the list of models: %w", err)
	}
	if !w.seeSwitch(ctx, modekeys.Choose, "") {
		return nil
	}
	return w.forgetModels()
}

// forgetModels notes that the list of models that ccbot has opened is closed: the next one that is
// open is a person's.
func (w *Switching) forgetModels() error {
	w.r.ModeRequest.Listed = false
	return w.turn.Save()
}

// granted reports the outcome of the request for a mode, or otherwise for a model, and removes it.
func (w *Switching) granted(ctx context.Context, outcome port.SwitchOutcome) error {
	if err := w.closeModels(ctx); err != nil {
		return err
	}
	was, rest := modekeys.Finish(*w.r.ModeRequest)
	if was.Model != "" && outcome == port.SwitchDone {
		w.awaitStatusLine(ctx, was.Model)
	}
	n := news.Switched{ModeChange: was, Outcome: outcome, Seen: port.Mode(w.term.Screen.Mode), Waited: w.r.ModeRequest.Waits}
	if err := w.turn.Notify(ctx, n); err != nil {
		return err
	}
	w.r.ModeRequest = rest
	w.o.Log.Info("mode_switched", logkey.SessionID, w.r.ID.String(), logkey.Key, string(was.Mode)+was.Model, logkey.Outcome, string(outcome))
	return w.turn.Save()
}

// statusWait is how long the status line may take to name a model that the list has taken. A model
// whose name there begins with another word is not waited for any longer.
const statusWait = 5 * time.Second

// awaitStatusLine waits until the status line names a model. The page is drawn by the news of the
// switch, and would have the model before it.
func (w *Switching) awaitStatusLine(ctx context.Context, model string) {
	pause.Await(ctx, view.PollInterval, statusWait, func() bool {
		u := w.o.Usage(*w.r)
		return u == nil || port.ModeState{Model: u.Model}.Runs(model)
	})
}

// TakesModeKeys reports whether the keys of permission modes and models may be pressed now. In a
// dialog such a key may approve, so it needs more than text does: nothing works that could open
// one.
func TakesModeKeys(r session.Record, v view.View) bool {
	s := v.Screen
	return v.TypeSafe() && view.TakesKeys(r, v) && !s.Background && s.Agents == 0 && !s.Continues && !v.Relayed && v.SubagentTool == ""
}

// OwnModels reports whether the list of models is open, and ccbot has opened it.
func OwnModels(r session.Record, v view.View) bool {
	return v.Screen.Models != nil && r.ModeRequest.Listed && r.ModeRequest.Agent == r.Binding.Agent && view.TakesKeys(r, v) && !v.Pane.InMode && !v.InBackground && !v.Relayed
}

// modelsClosed reports whether the terminal shows that no list of models is open.
func modelsClosed(v view.View) bool {
	return v.Captured && v.Screen.Models == nil && (v.Screen.Box.Present || v.DialogOpen())
}
