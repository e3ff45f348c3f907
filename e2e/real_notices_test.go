package e2e

import (
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRealP5_NoticesAreAnswers sends commands that the real CLI answers with a notice only, and one that prints nothing.
func TestRealP5_NoticesAreAnswers(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("/release-notes"), "See the full changelog at: https://")
	w.hear(w.say("/voice"), "/voice needs a Claude subscription.")
	w.hear(w.say("/install-github-app"), "isn't available while ANTHROPIC_BASE_URL is set")
	w.offered(w.say("/mobile"), "Esc")
	w.escape()
	w.hear(w.say("say after it"), "after it")
	assert.Zero(t, w.heard("(no content)"))
	w.stop()
}

// TestRealErrorsNameWhatHelps makes the real CLI's requests fail: one of them it mends by itself, and two would fail again.
func TestRealErrorsNameWhatHelps(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.start()
	w.open("work", w.dir)
	picture := filepath.Join(w.dir, "a.png")
	f, err := os.Create(picture)
	require.NoError(t, err)
	require.NoError(t, png.Encode(f, image.NewGray(image.Rect(0, 0, 8, 8))))
	require.NoError(t, f.Close())
	asked := w.say("blind " + picture)
	w.hear(asked, "could not be processed and was removed")
	w.hear(asked, "tool result: [Image removed")
	assert.Zero(t, w.heard("stopped with an error"), "the turn has gone on")
	assert.Zero(t, w.heard("your message again"))
	w.hear(w.say("refuse Your credit balance is too low to access the Anthropic API."), "Add credit to the account that Claude uses")
	w.hear(w.say("refuse prompt is too long: 250000 tokens > 200000 maximum"), "Shorten it with /compact or begin a new one with /clear")
	w.hear(w.say("/clear"), "work now has a new, empty conversation")
	w.hear(w.say("say fine"), "fine")
	w.stop()
}

// TestRealPlanInNewConversation approves a plan in the terminal with an empty context: the real CLI goes on under another id, and the
// call of the plan never gets a result.
func TestRealPlanInNewConversation(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	require.NoError(t, os.WriteFile(filepath.Join(w.claude, "settings.json"), []byte(`{"showClearContextOnPlanAccept":true}`), 0o600))
	w.start()
	w.open("work", w.dir)
	for _, mode := range []string{"accept edits on", "plan mode on"} {
		w.tmux("send-keys", "-t", "=ccbot:=work", "BTab")
		w.until(mode, func() bool { return w.screenHas("work", mode) })
	}
	asked := w.hear(w.say("plan"), "proposes a plan")
	before := w.claudeID()
	w.until("the terminal asks", func() bool { return w.screenHas("work", "clear context") })
	w.presses("=ccbot:=work", "Enter", func() bool { return w.screenHas("work", "clear context") })
	w.until("it goes on in a new conversation", func() bool { return w.claudeID() != before })
	w.hear(asked.ID, "work carries out the plan in a new conversation.")
	w.hear(asked.ID, "echo: Implement the following plan")
	w.hear(w.say("say next"), "next") // what the card says depends on which of two lines Claude Code writes first
	w.stop()
}

// TestRealCompactionIsAnswered: what the CLI says after a compaction is its answer, and the next text is typed.
func TestRealCompactionIsAnswered(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.env = append(w.env, withCards)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say first"), "first")
	w.hear(w.say("/compact mute 1"), "Compacted")
	w.hear(w.say("say next"), "next")
	w.stop()
}

// TestRealFailedStartSaysWhy starts the real CLI with a flag that it does not know.
func TestRealFailedStartSaysWhy(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.start("CLAUDE_FLAGS=--nonsense")
	failed := w.hear(w.say("/new work "+w.dir), "work ended before it was ready. Its screen says why.")
	assert.Contains(t, failed.Text, "unknown option '--nonsense'")
	assert.NotContains(t, failed.Text, "log in")
	w.stop()
}
