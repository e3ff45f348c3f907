// Package modekeys decides the next key for a requested permission mode or model of an agent.
//
//   - Each key follows from one reading of the terminal: it is pressed once, and its effect is
//     read back before the next one. If the terminal does not show the effect, no key follows.
//   - The keys for a mode that the agent does not offer end at the mode where they began.
//   - A model is chosen only for the session, only once, and counts when the list marks it.
//
// The package presses and reads nothing: lifecycle does, and decides when a key may be pressed.
package modekeys

import (
	"slices"
	"strings"

	"ccbot/agent"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/tmux"
)

// maxOpened is the number of times that the list of models is opened for one request: to choose, to
// read back, and after interference by people and crashes.
const maxOpened = 5

// Screen is the content of the terminal.
type Screen struct {
	Free   bool   // the prompt box takes keys, and nothing else can
	Mode   string // the permission mode that it shows; empty: none
	Listed bool   // the list of models is open, and ccbot has opened it
	Early  bool   // the agent has rested for so short a time that the list would refuse keys
	Flat   bool   // screen reader mode, in which the list has no cursor
	List   agent.Models
	Whole  bool // all of the list is on the screen
}

// Act is the next act. The zero value means that nothing can be done now.
type Act int

const (
	Wait     Act = iota
	Finished     // the outcome is known
	Mode         // press the key of the next permission mode
	Open         // open the list of models
	Choose       // choose the model in the list
)

// Decide returns the next act for a request: for the mode first, then for the model. The outcome
// counts with Over. It is pure.
func Decide(w session.ModeRequest, l Screen) (Act, port.SwitchOutcome) {
	switch {
	case w.Mode != "":
		return decideMode(w, l)
	case l.Listed:
		return decideList(w, l)
	case l.Flat:
		return Finished, port.SwitchUnread
	case !l.Free, l.Early:
		return Wait, port.SwitchDone
	case w.Opened >= maxOpened:
		return Finished, port.SwitchUnread
	}
	return Open, port.SwitchDone
}

// decideMode goes round through the modes once. Of the one at which a key was noted last the key
// may not have been pressed.
func decideMode(w session.ModeRequest, l Screen) (Act, port.SwitchOutcome) {
	passed := slices.Index(w.Passed, l.Mode)
	switch {
	case !l.Free:
		return Wait, port.SwitchDone
	case l.Mode == "":
		return Finished, port.SwitchUnread
	case l.Mode == w.Mode:
		return Finished, port.SwitchDone
	case passed >= 0 && passed < len(w.Passed)-1:
		return Finished, port.SwitchNoSuch
	}
	return Mode, port.SwitchDone
}

// decideList reads the list of models. Its mark is the proof: after a choice the list is opened
// once more.
func decideList(w session.ModeRequest, l Screen) (Act, port.SwitchOutcome) {
	wanted := Find(l.List, w.Model)
	switch {
	case !l.Whole, l.List.Current < 0:
		return Finished, port.SwitchUnread
	case wanted < 0:
		return Finished, port.SwitchNoSuch
	case l.List.Current == wanted:
		return Finished, port.SwitchDone
	case w.Chosen:
		return Finished, port.SwitchNotTaken
	}
	return Choose, port.SwitchDone
}

// Find is the index of a model in the list; -1 when it is not there.
func Find(list agent.Models, name string) int {
	return slices.IndexFunc(list.Names, func(one string) bool { return strings.EqualFold(one, name) })
}

// Note notes a key that is about to be pressed while the terminal shows a mode, and returns the
// key. keys has those of the agent.
func Note(w *session.ModeRequest, act Act, mode string, keys agent.Manners) tmux.Key {
	switch act {
	case Mode:
		if n := len(w.Passed); n == 0 || w.Passed[n-1] != mode {
			w.Passed = append(slices.Clone(w.Passed), mode)
		}
		return tmux.Key(keys.NextMode)
	case Open:
		w.Opened, w.Listed = w.Opened+1, true
		return tmux.Key(keys.OpenModels)
	}
	w.Chosen = true
	return tmux.Key(keys.ThisSession)
}

// Add is a request with what a person wants now in place of what was wanted before.
func Add(w session.ModeRequest, want port.ModeChange) session.ModeRequest {
	if want.Mode != "" {
		w.Mode, w.Passed = string(want.Mode), nil
	}
	if want.Model != "" {
		w.Model, w.Opened, w.Chosen = want.Model, 0, false
	}
	return w
}

// Finish removes the part with a known outcome from a request; rest is nil if nothing is left.
func Finish(w session.ModeRequest) (was port.ModeChange, rest *session.ModeRequest) {
	if w.Mode == "" {
		return port.ModeChange{Model: w.Model}, nil
	}
	was.Mode = port.Mode(w.Mode)
	if w.Mode, w.Passed = "", nil; w.Model == "" {
		return was, nil
	}
	return was, &w
}
