package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

// reads waits until a message reads like this.
func (w *world) reads(id int, text string) botapi.Message {
	w.t.Helper()
	m := w.hear(id-1, text)
	require.Equal(w.t, id, m.ID)
	return m
}

// switches taps the modes and models of a session, and reads each back.
func (w *world) switches(words map[string]string) {
	w.t.Helper()
	card := w.hear(w.say("/mode"), "Permission mode: Manual")
	for _, mode := range []string{"Plan", "Accept edits", "Manual"} {
		w.tap(card, mode)
		card = w.reads(card.ID, "Permission mode: "+mode)
		w.until(mode+" has the tick", func() bool {
			card = w.reads(card.ID, "Permission mode: "+mode)
			_, ticked := card.Find("✓ " + mode)
			return ticked
		})
	}
	for _, model := range []string{"Haiku", "Sonnet"} {
		w.tap(card, model)
		card = w.reads(card.ID, "Model: "+model)
		w.until("the status line names "+model, func() bool {
			card = w.hear(w.say("/mode"), "Model: ")
			return strings.Contains(card.Text, "Model: "+words[model])
		})
	}
}

// TestRealModes switches the mode and the model of the real CLI, when idle and after a turn, and
// checks the requests to the model. The person's settings do not change.
func TestRealModes(t *testing.T) {
	t.Parallel()
	w, api := newRealWorld(t)
	settings := filepath.Join(w.claude, "settings.json")
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say hello from claude"), "hello from claude")
	before, err := os.ReadFile(settings)
	require.NoError(t, err)
	w.switches(map[string]string{"Haiku": "Haiku 5.5", "Sonnet": "Sonnet 5.5"})
	w.hear(w.say("say with another model"), "with another model")
	last, ok := api.Asked("say with another model")
	require.True(t, ok)
	assert.Contains(t, last.Model, "sonnet")

	file := filepath.Join(w.dir, "made")
	free := "mute until " + filepath.Join(w.dir, "free")
	w.say(free)
	w.until("it works", func() bool { _, ok := api.Asked(free); return ok })
	card := w.hear(w.say("/mode"), "Permission mode: Manual")
	w.tap(card, "Accept edits")
	w.reads(card.ID, "As soon as the agent is free: Accept edits")
	id := w.say("write " + file)
	w.makes("free")
	w.hear(id, "work: the permission mode is now Accept edits.")
	w.until("the edit is accepted", func() bool { _, err := os.Stat(file); return err == nil })
	assert.Zero(t, w.heard("wants to"), "nobody was asked")
	after, err := os.ReadFile(settings)
	require.NoError(t, err)
	assert.JSONEq(t, string(before), string(after), "the model is for the session only")
	w.stop()
}

// TestModesOfTheStandIn is the same with the stand-in of Claude Code.
func TestModesOfTheStandIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.switches(map[string]string{"Haiku": "Haiku", "Sonnet": "Sonnet"})
	w.stop()
}

// TestRealP9_AllEditsAreAllowedUntilAskedAgain: one tap lets the session edit, the card of each turn says so from what the agent has noted,
// and [Ask again] ends it, as does the end of the session.
func TestRealP9_AllEditsAreAllowedUntilAskedAgain(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.env = append(w.env, withCards)
	w.start()
	w.open("work", w.dir)
	made := func(name string) string { return filepath.Join(w.dir, name) }
	asked := w.offered(w.say("write "+made("first")), "Allow all edits")
	w.tap(asked, "Allow all edits")
	w.hear(asked.ID, "tool result")
	w.until("the request has its outcome", func() bool {
		return strings.Contains(w.follow(asked).Text, "All edits allowed in the chat, until the session ends")
	})
	w.hear(w.say("write "+made("second")), "tool result")
	assert.FileExists(t, made("first"))
	assert.FileExists(t, made("second"))

	card := w.offered(w.say("mute until "+made("free")), "Ask again")
	assert.Contains(t, card.Text, "edits allowed")
	w.tap(card, "Ask again")
	w.makes("free")
	w.hear(card.ID, "the permission mode is now Manual")
	denied := w.offered(w.say("write "+made("third")), "Allow all edits")
	w.tap(denied, "Deny")
	w.hear(denied.ID, "tool result")
	assert.NoFileExists(t, made("third"))

	again := w.offered(w.say("write "+made("fourth")), "Allow all edits")
	w.tap(again, "Allow all edits")
	w.hear(again.ID, "tool result")
	w.end("work")
	w.hear(w.say("/resume work"), "is ready")
	w.offered(w.say("write "+made("fifth")), "Allow all edits")
	assert.NoFileExists(t, made("fifth"))
	w.stop()
}
