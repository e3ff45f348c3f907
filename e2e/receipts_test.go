package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

// reactionsOf returns the bot's reactions to a message in order; "" removes one.
func (w *world) reactionsOf(message int) (all []string) {
	w.t.Helper()
	for _, c := range w.api.Calls() {
		if !strings.EqualFold(c.Method, "setMessageReaction") || c.Params["message_id"] != itoa(message) || c.Status != 200 {
			continue
		}
		var list []struct{ Emoji string }
		if raw := c.Params["reaction"]; raw != "" {
			require.NoError(w.t, json.Unmarshal([]byte(raw), &list))
		}
		emoji := ""
		if len(list) > 0 {
			emoji = list[0].Emoji
		}
		all = append(all, emoji)
	}
	return slices.Compact(all)
}

// reaction waits until a message has that reaction.
func (w *world) reaction(message int, emoji string) {
	w.t.Helper()
	w.until("the reaction "+emoji, func() bool {
		all := w.reactionsOf(message)
		return len(all) > 0 && all[len(all)-1] == emoji
	})
}

// warned waits for the reply that a message will have no effect.
func (w *world) warned(message int, text string) botapi.Message {
	w.t.Helper()
	m := w.hear(message, text)
	assert.True(w.t, strings.HasPrefix(m.Text, "⚠ "), "%q begins with a warning", m.Text)
	if assert.NotNil(w.t, m.ReplyTo, "%q is a reply", m.Text) {
		assert.Equal(w.t, message, m.ReplyTo.ID)
	}
	return m
}

// TestP4_ReactionShowsProgress: on disk, typed, proven; and nothing of it
// stays where a message goes nowhere.
func TestP4_ReactionShowsProgress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	early := w.say("say too early")
	w.tap(w.hear(early, "No session is open"), "Discard")
	w.open("work", w.dir)

	w.say("slow until told")
	id := w.say("say hello") // which waits for that turn to end
	w.reaction(id, "👀")
	w.makes("told")
	w.hear(id, "hello")
	w.reaction(id, "👌")
	assert.Subset(t, [][]string{{"👀", "✍", "👌"}, {"👀", "👌"}}, [][]string{w.reactionsOf(id)}, "a later step may overtake the second")

	held := w.say("bash rm -rf build")
	w.tap(w.hear(held, "wants to run a command"), "Deny")
	w.reaction(held, "👌")

	w.tap(w.hear(w.say("/kill work"), "End work"), "Kill")
	w.hear(held, "work is archived")
	late := w.say("say too late")
	w.warned(late, "work has ended.")
	for _, id := range []int{early, late} {
		assert.NotContains(t, w.reactionsOf(id), "👌")
		w.reaction(id, "")
	}
	assert.Equal(t, []string{"slow until told", "say hello", "bash rm -rf build"}, w.received())
	w.stop()
}

// dialog makes the agent open a dialog without a hook, so that prompts wait.
func (w *world) dialog() botapi.Message {
	w.t.Helper()
	return w.hear(w.say("bash rm -rf build"), "is waiting for an answer")
}

// noHooks is the agent that dialog needs.
const noHooks = "DEMOAGENT_NO_HOOKS=1"

// TestP4_EditOfWaitingMessageCounts: a waiting message can be edited; later the person is informed
// that the edit has no effect.
func TestP4_EditOfWaitingMessageCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noHooks)
	w.start()
	w.open("work", w.dir)
	w.dialog()
	id := w.say("say the first text")
	w.reaction(id, "👀")
	w.until("it is held", func() bool { return slices.Contains(w.inboxStates(), "held") })
	require.NoError(t, w.person.Edit(w.chat(), id, "say the second text"))
	w.until("the edit is in the message's entry, and its own entry is finished", func() bool {
		return slices.Equal(w.fieldOfFiles("inbox", `"text":"`), []string{"say the second text"})
	})
	w.escape()
	w.hear(id, "the second text")
	w.reaction(id, "👌")
	assert.Equal(t, []string{"bash rm -rf build", "say the second text"}, w.received())

	require.NoError(t, w.person.Edit(w.chat(), id, "say the third text"))
	w.warned(id, "edit has no effect")
	assert.Equal(t, "👌", w.reactionsOf(id)[len(w.reactionsOf(id))-1], "it stays where it is")
	stop := w.say("/stop")
	require.NoError(t, w.person.Edit(w.chat(), stop, "say that a command is a prompt now"))
	w.hear(w.say("say the end"), "the end")
	assert.Equal(t, 1, w.heard("edit has no effect"))
	assert.Equal(t, []string{"bash rm -rf build", "say the second text", "say the end"}, w.received())
	w.stop()
}

// longAgo changes the state as if ccbot last ran sixteen minutes ago.
func (w *world) longAgo() {
	w.t.Helper()
	w.lastAlive(16 * time.Minute)
}

// lastAlive changes the state folder as if the stopped bot was last alive before ago. Without a
// time in the file, as after a boot, the file's own time counts.
func (w *world) lastAlive(ago time.Duration) {
	w.t.Helper()
	file, past := filepath.Join(w.state, "alive"), time.Now().Add(-ago)
	require.NoError(w.t, os.Truncate(file, 0))
	require.NoError(w.t, os.Chtimes(file, past, past))
}

const isOld = "is late"

// Each old prompt is confirmed once, and later texts do not wait for the answer.
func TestP4_OldPromptsAreConfirmedAfterAbsence(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noHooks)
	w.start()
	w.open("work", w.dir)
	w.dialog()
	one, two, three := w.say("say one"), w.say("say two"), w.say("say three")
	w.until("they are held", func() bool { return slices.Equal(w.inboxStates(), []string{"held", "held", "held"}) })
	w.kill9()
	w.start()
	w.drained()
	assert.Zero(t, w.heard(isOld), "it was away for a moment")

	w.kill9()
	w.longAgo()
	w.start()
	w.until("all are asked about", func() bool { return w.heard(isOld) == 3 })
	// A kill before the last question is noted would send it twice.
	w.drained()
	for range 2 { // once more is nothing, also after another absence
		w.kill9()
		w.longAgo()
		w.start()
		w.drained()
	}
	require.Equal(t, 3, w.heard(isOld))

	w.offered(0, "Esc")
	w.escape()
	answer := w.hear(w.say("say fresh"), "fresh")
	questions := make(map[int]botapi.Message)
	for _, m := range w.api.Messages(w.chat()) {
		if m.FromBot && strings.Contains(m.Text, isOld) {
			require.NotNil(t, m.ReplyTo)
			questions[m.ReplyTo.ID] = m
		}
	}
	w.tap(questions[three], "Send")
	answer = w.hear(answer.ID, "three")
	w.reaction(three, "👌")
	w.tap(questions[one], "Discard")
	w.reaction(one, "")
	w.stop() // the undecided one still waits
	w.start()
	w.tap(questions[two], "Send")
	w.hear(answer.ID, "two")
	w.reaction(two, "👌")
	assert.Equal(t, []string{"bash rm -rf build", "say fresh", "say three", "say two"}, w.received())
	assert.Empty(t, w.inboxStates())
	w.stop()
}

// TestP4_OldMessagesAreAskedAbout: they are not acted on without an answer.
func TestP4_OldMessagesAreAskedAbout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.injectAt("say of the morning", time.Now().Add(-16*time.Minute))
	first := w.hear(0, isOld)
	assert.Contains(t, first.Text, "say of the morning")
	w.injectAt("say of the evening", time.Now().Add(-24*time.Hour))
	second := w.hear(first.ID, isOld)
	w.injectAt("/stop", time.Now().Add(-time.Hour))
	w.hear(second.ID, "Not done: /stop")
	w.injectAt("say of tomorrow", time.Now().Add(24*time.Hour))
	w.hear(second.ID, "of tomorrow")
	w.tap(second, "Discard")
	w.tap(first, "Send")
	w.hear(second.ID, "of the morning")
	assert.Equal(t, []string{"say of tomorrow", "say of the morning"}, w.received())
	w.stop()
}

// injectAt delivers a text as if it was sent at a time.
func (w *world) injectAt(text string, at time.Time) {
	w.t.Helper()
	update, err := json.Marshal(map[string]any{"message": map[string]any{
		"message_id": 200_000 + len(w.api.Calls()), "date": at.Unix(), "text": text,
		"from": map[string]any{"id": w.person.ID(), "first_name": "You"},
		"chat": map[string]any{"id": w.chat(), "type": "private", "first_name": "You"},
	}})
	require.NoError(w.t, err)
	_, err = w.api.Inject(update)
	require.NoError(w.t, err)
}

// TestP4_FatalMessageIsSetAside: the next message of its conversation is typed.
func TestP4_FatalMessageIsSetAside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.stop()
	deadly := 0
	for life := range 4 {
		file := filepath.Join(t.TempDir(), strconv.Itoa(life))
		w.start("CCBOT_FAILPOINT=accepted", "CCBOT_FAILFILE="+file)
		if life == 0 {
			deadly = w.say("say it is deadly")
			w.say("say it is not")
		}
		w.until("it is being handled", func() bool { _, err := os.Stat(file); return err == nil })
		w.until("both are on disk", func() bool { return len(w.inboxStates()) == 2 })
		w.kill9()
	}
	w.start()
	w.warned(deadly, "ccbot could not process this message")
	w.hear(deadly, "it is not")
	assert.Equal(t, []string{"say it is not"}, w.received())
	left, err := filepath.Glob(filepath.Join(w.state, "quarantine", "inbox-*.json"))
	require.NoError(t, err)
	assert.Len(t, left, 1)
	w.stop()
}
