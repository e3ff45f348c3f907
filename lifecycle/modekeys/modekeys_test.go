package modekeys

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/agent"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/tmux"
)

func TestDecide(t *testing.T) {
	mode, model := session.ModeRequest{Mode: "plan"}, session.ModeRequest{Model: "sonnet", Opened: 1}
	chosen, opened, round := model, model, mode
	chosen.Chosen, opened.Opened, round.Passed = true, maxOpened, []string{"default", "auto"}
	both := session.ModeRequest{Mode: "plan", Model: "sonnet"}
	free := Screen{Free: true, Mode: "default"}
	list := func(current int, names ...string) Screen {
		return Screen{Listed: true, Whole: true, List: agent.Models{Names: names, Current: current}}
	}
	cut := list(0, "Opus", "Sonnet")
	cut.Whole = false
	for _, tc := range []struct {
		name    string
		wish    session.ModeRequest
		look    Screen
		act     Act
		outcome port.SwitchOutcome
	}{
		{"nothing may be pressed", mode, Screen{Mode: "default"}, Wait, port.SwitchDone},
		{"not even said, while nothing is certain", mode, Screen{Mode: "plan"}, Wait, port.SwitchDone},
		{"another mode", mode, free, Mode, port.SwitchDone},
		{"the mode is there", mode, Screen{Free: true, Mode: "plan"}, Finished, port.SwitchDone},
		{"no mode is shown", mode, Screen{Free: true}, Finished, port.SwitchUnread},
		{"one round is over, and the mode is what it was", round, free, Finished, port.SwitchNoSuch},
		{"another mode on the way", round, Screen{Free: true, Mode: "acceptEdits"}, Mode, port.SwitchDone},
		{"the key was noted and not pressed", round, Screen{Free: true, Mode: "auto"}, Mode, port.SwitchDone},
		{"the mode comes first", both, free, Mode, port.SwitchDone},

		{"the list is not open", model, free, Open, port.SwitchDone},
		{"too early for the list", model, Screen{Free: true, Early: true}, Wait, port.SwitchDone},
		{"a list without a cursor", model, Screen{Free: true, Flat: true, Mode: "default"}, Finished, port.SwitchUnread},
		{"a mode in screen reader mode", mode, Screen{Free: true, Flat: true, Mode: "default"}, Mode, port.SwitchDone},
		{"no key for the list", model, Screen{}, Wait, port.SwitchDone},
		{"the list was opened too often", opened, free, Finished, port.SwitchUnread},
		{"another model", model, list(0, "Opus", "Sonnet"), Choose, port.SwitchDone},
		{"the model is marked", model, list(1, "Opus", "Sonnet"), Finished, port.SwitchDone},
		{"after the choice", chosen, list(1, "Opus", "Sonnet"), Finished, port.SwitchDone},
		{"the choice was not taken", chosen, list(0, "Opus", "Sonnet"), Finished, port.SwitchNotTaken},
		{"no such model", model, list(0, "Opus", "Sonnet 4"), Finished, port.SwitchNoSuch},
		{"no mark", model, list(-1, "Opus", "Sonnet"), Finished, port.SwitchUnread},
		{"a part of the list is out of sight", model, cut, Finished, port.SwitchUnread},
	} {
		act, outcome := Decide(tc.wish, tc.look)
		assert.Equal(t, tc.act, act, tc.name)
		assert.Equal(t, tc.outcome, outcome, tc.name)
	}
}

func TestRequestIsGrantedPartByPart(t *testing.T) {
	keys := agent.Manners{NextMode: "BTab", OpenModels: "M-p", ThisSession: "s"}
	w := Add(session.ModeRequest{}, port.ModeChange{Mode: port.ModePlan, Model: "Opus"})
	assert.Equal(t, tmux.KeyBackTab, Note(&w, Mode, "default", keys))
	assert.Equal(t, tmux.KeyBackTab, Note(&w, Mode, "default", keys), "after a crash")
	assert.Equal(t, tmux.KeyModels, Note(&w, Open, "default", keys))
	assert.Equal(t, tmux.KeySession, Note(&w, Choose, "default", keys))
	assert.Equal(t, session.ModeRequest{Mode: "plan", Passed: []string{"default"}, Model: "Opus", Opened: 1, Listed: true, Chosen: true}, w)
	w = Add(w, port.ModeChange{Model: "Haiku"})
	assert.Equal(t, session.ModeRequest{Mode: "plan", Passed: []string{"default"}, Model: "Haiku", Listed: true}, w, "noted anew")
	was, rest := Finish(w)
	assert.Equal(t, port.ModeChange{Mode: port.ModePlan}, was)
	was, rest = Finish(*rest)
	assert.Equal(t, port.ModeChange{Model: "Haiku"}, was)
	assert.Nil(t, rest)
}
