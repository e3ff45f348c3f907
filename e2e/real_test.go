package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/e2e/messagesapi"
	"ccbot/e2e/realclaude"
)

// newRealWorld is a world whose agent is the real Claude Code CLI, with a
// private home and a Messages API on loopback.
func newRealWorld(t *testing.T) (*world, *messagesapi.Server) {
	t.Helper()
	return newRealWorldIn(t, t.TempDir())
}

// newRealWorldIn is newRealWorld with the folder of the sessions, and more trusted folders.
func newRealWorldIn(t *testing.T, work string, more ...string) (*world, *messagesapi.Server) {
	t.Helper()
	claude := realclaude.Require(t)
	dirs := realclaude.Home(t, append(more, work)...) // before the world: it goes when the world's agents have ended
	w := newWorld(t)
	w.dir, w.claude = work, dirs.Config
	api := messagesapi.New(slog.New(slog.DiscardHandler))
	l, err := messagesapi.Listen(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- api.Run(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) && !errors.Is(err, http.ErrServerClosed) {
			assert.NoError(t, err)
		}
	})
	w.env = append(w.env, dirs.Env("http://"+l.Addr().String(), "CLAUDE_COMMAND="+claude, "KILL_GRACE=12s")...)
	return w, api
}

// TestRealP3_MainJob is the main job with the real CLI: a chat starts it, sends prompts, sees its
// permission dialog, ends it, and resumes the conversation under the same id.
func TestRealP3_MainJob(t *testing.T) {
	t.Parallel()
	w, api := newRealWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say hello from claude"), "hello from claude")

	id := w.say("bash touch marker-of-the-tool")
	asked := w.hear(id, "wants to run a command")
	assert.Contains(t, asked.Text, "touch marker-of-the-tool")
	held := w.say("say typed after the dialog")
	w.hear(held, "1 message waits.")
	w.hear(w.say("/stop"), "work is waiting for your answer")
	w.tap(asked, "Deny")
	w.hear(held, "typed after the dialog")

	w.hear(w.say("!echo from the shell"), "from the shell")
	w.say("/clear")
	w.hear(w.say("say after clear"), "after clear")
	assert.Zero(t, w.heard("not certain that"))

	claudeID := w.claudeID()
	agents := w.writersOf(claudeID)
	require.Len(t, agents, 1)
	asked = w.hear(w.say("/kill"), "End work")
	w.tap(asked, "Kill")
	receipt := w.hear(asked.ID, "work is archived")
	assert.Equal(t, "work is archived.", receipt.Text, "an ordinary end is one line")
	w.why("work", "process "+strconv.Itoa(agents[0].PID)+" ended (")
	assert.Empty(t, w.windows(), "the pane is gone")
	assert.Empty(t, w.writersOf(claudeID), "no claude of that session lives")

	w.hear(w.say("/resume work"), "work is ready")
	w.hear(w.say("say still the same talk"), "still the same talk")
	assert.Equal(t, claudeID, w.claudeID(), "the conversation goes on with the same id")
	last, ok := api.Asked("say still the same talk")
	require.True(t, ok)
	assert.True(t, last.Says("after clear"), "the model sees what was said before the archive")
	w.stop()
}

// TestRealHardTexts types the hard texts into the real CLI and finds them in
// its transcript.
func TestRealHardTexts(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.start()
	w.open("work", w.dir)
	for _, tt := range hardTexts {
		want := cmp.Or(tt.real, tt.want, tt.text)
		w.inject(tt.text)
		w.until("the transcript has: "+tt.name, func() bool { return w.transcriptHas(want) })
	}
	w.hear(w.say("say the end"), "the end")
	w.stop()
}

// transcriptHas reports whether the transcript has a person's line with the text. The real CLI
// wraps long pastes.
func (w *world) transcriptHas(text string) bool {
	files, err := filepath.Glob(filepath.Join(w.claude, "projects", "*", "*.jsonl"))
	if err != nil || len(files) == 0 {
		return false
	}
	data, err := os.ReadFile(files[0])
	require.NoError(w.t, err)
	for line := range strings.Lines(string(data)) {
		var entry struct {
			Type    string
			Message struct{ Content any }
		}
		if json.Unmarshal([]byte(line), &entry) != nil || entry.Type != "user" {
			continue
		}
		content, _ := entry.Message.Content.(string)
		if content == text || strings.Contains(content, "<pasted_content") && strings.Contains(content, text) {
			return true
		}
	}
	return false
}
