package wishes

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/bot/port/modes"
	"ccbot/internal/claudeui"
	"ccbot/internal/session"
	"ccbot/tmux"
)

func TestDecide(t *testing.T) {
	mode, model := session.Wish{Mode: "plan"}, session.Wish{Model: "sonnet", Opened: 1}
	chosen, opened, round := model, model, mode
	chosen.Chosen, opened.Opened, round.Passed = true, maxOpened, []string{"default", "auto"}
	both := session.Wish{Mode: "plan", Model: "sonnet"}
	free := Look{Free: true, Mode: "default"}
	list := func(current int, names ...string) Look {
		return Look{Listed: true, Whole: true, List: claudeui.Models{Names: names, Current: current}}
	}
	cut := list(0, "Opus", "Sonnet")
	cut.Whole = false
	for _, tc := range []struct {
		name    string
		wish    session.Wish
		look    Look
		act     Act
		outcome modes.Outcome
	}{
		{"nothing may be pressed", mode, Look{Mode: "default"}, Wait, modes.Done},
		{"not even said, while nothing is certain", mode, Look{Mode: "plan"}, Wait, modes.Done},
		{"another mode", mode, free, Mode, modes.Done},
		{"the mode is there", mode, Look{Free: true, Mode: "plan"}, Over, modes.Done},
		{"no mode is shown", mode, Look{Free: true}, Over, modes.Unread},
		{"one round is over, and the mode is what it was", round, free, Over, modes.NoSuch},
		{"another mode on the way", round, Look{Free: true, Mode: "acceptEdits"}, Mode, modes.Done},
		{"the key was noted and not pressed", round, Look{Free: true, Mode: "auto"}, Mode, modes.Done},
		{"the mode comes first", both, free, Mode, modes.Done},

		{"the list is not open", model, free, Open, modes.Done},
		{"too early for the list", model, Look{Free: true, Early: true}, Wait, modes.Done},
		{"a list without a cursor", model, Look{Free: true, Flat: true, Mode: "default"}, Over, modes.Unread},
		{"a mode in screen reader mode", mode, Look{Free: true, Flat: true, Mode: "default"}, Mode, modes.Done},
		{"no key for the list", model, Look{}, Wait, modes.Done},
		{"the list was opened too often", opened, free, Over, modes.Unread},
		{"another model", model, list(0, "Opus", "Sonnet"), Choose, modes.Done},
		{"the model is marked", model, list(1, "Opus", "Sonnet"), Over, modes.Done},
		{"after the choice", chosen, list(1, "Opus", "Sonnet"), Over, modes.Done},
		{"the choice was not taken", chosen, list(0, "Opus", "Sonnet"), Over, modes.NotTaken},
		{"no such model", model, list(0, "Opus", "Sonnet 4"), Over, modes.NoSuch},
		{"no mark", model, list(-1, "Opus", "Sonnet"), Over, modes.Unread},
		{"a part of the list is out of sight", model, cut, Over, modes.Unread},
	} {
		act, outcome := Decide(tc.wish, tc.look)
		assert.Equal(t, tc.act, act, tc.name)
		assert.Equal(t, tc.outcome, outcome, tc.name)
	}
}

func TestAWishIsNotedAndFulfilledPartByPart(t *testing.T) {
	w := Add(session.Wish{}, modes.Wish{Mode: modes.Plan, Model: "Opus"})
	assert.Equal(t, tmux.KeyBackTab, Note(&w, Mode, "default"))
	assert.Equal(t, tmux.KeyBackTab, Note(&w, Mode, "default"), "after a crash")
	assert.Equal(t, tmux.KeyModels, Note(&w, Open, "default"))
	assert.Equal(t, tmux.KeySession, Note(&w, Choose, "default"))
	assert.Equal(t, session.Wish{Mode: "plan", Passed: []string{"default"}, Model: "Opus", Opened: 1, Listed: true, Chosen: true}, w)
	w = Add(w, modes.Wish{Model: "Haiku"})
	assert.Equal(t, session.Wish{Mode: "plan", Passed: []string{"default"}, Model: "Haiku", Listed: true}, w, "noted anew")
	was, rest := Granted(w)
	assert.Equal(t, modes.Wish{Mode: modes.Plan}, was)
	was, rest = Granted(*rest)
	assert.Equal(t, modes.Wish{Model: "Haiku"}, was)
	assert.Nil(t, rest)
}
