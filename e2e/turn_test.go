package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
	"ccbot/try/botapi/pagetest"
)

// cards are the messages of the bot that are cards of turns of a session.
func (w *world) cards(name string) (all []botapi.Message) {
	for _, m := range w.api.Messages(w.chat()) {
		if m.FromBot && strings.HasPrefix(m.Text, name+" · ") {
			all = append(all, m)
		}
	}
	return all
}

// showedSteps waits until a card has shown a step of the demo agent and its to-do list. On a busy
// machine the turn may end before that.
func (w *world) showedSteps(card int) {
	w.t.Helper()
	w.until("the card shows steps", func() bool {
		return slices.ContainsFunc(w.api.Calls(), func(c botapi.Call) bool {
			text := c.Params["text"]
			return c.Params["message_id"] == strconv.Itoa(card) && strings.Contains(text, "make test") && strings.Contains(text, "☰ ")
		})
	})
}

// A turn of several steps, with a to-do list, is one message, also across a restart.
func TestTurnIsOneCard(t *testing.T) {
	inShortRun(t, "the card of a turn")
	t.Parallel()
	w := newWorld(t, withCards)
	w.start()
	w.open("work", w.dir)
	before := w.say("work 24") // it lasts longer than two edits of a card are apart
	running := w.hear(before, "work · ")
	w.showedSteps(running.ID)
	w.picture("running")
	w.stop()
	w.start()
	w.hear(before, "All 24 steps are done")
	w.until("the turn is over", func() bool { return strings.Contains(w.cards("work")[0].Text, "done in") })
	all := w.cards("work")
	require.Len(t, all, 1, "one card per turn, also over a restart")
	assert.Equal(t, running.ID, all[0].ID)
	assert.Contains(t, all[0].Text, "24 steps")
	w.picture("ended")
	w.tap(all[0], "Details")
	w.shows(all[0].ID, "Steps of work")
	w.picture("details")
	w.stop()
}

// picture takes a picture of the chat at a phone's width where people look at pictures.
func (w *world) picture(name string) {
	w.t.Helper()
	dir := os.Getenv("CCBOT_SHOTS")
	if dir == "" {
		return
	}
	for _, dark := range []bool{false, true} {
		page := pagetest.Open(w.t, w.api, pagetest.Look{Scale: 2, Dark: dark})
		file := "turn-" + name + ".png"
		if dark {
			file = "turn-" + name + "-dark.png"
		}
		page.WaitText("work")
		page.Screenshot(filepath.Join(dir, file))
	}
}
