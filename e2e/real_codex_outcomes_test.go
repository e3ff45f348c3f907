//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/e2e/realcodex"
)

// TestRealP7_CodexOutcomes answers requests of both kinds of models in the chat and at the desk. Each
// card ends with what has happened: nothing that was denied is shown as allowed.
func TestRealP7_CodexOutcomes(t *testing.T) {
	for name, model := range map[string]string{"in code mode": realcodex.InCodeMode, "classic": realcodex.Classic} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newCodexWorldOf(t, model)
			w.start()
			w.hear(w.say("/new cx "+w.dir+" --agent codex"), "cx is ready")
			w.hear(w.say("say hello from codex"), "hello from codex")
			const window = "=ccbot:=cx"
			outside := w.t.TempDir()
			for _, tt := range []struct {
				file, word, tap, key, says string
				made                       bool
			}{
				{"chat", "esc touch ", "Allow", "", "✅ Allowed in the chat", true},
				{"desk", "esc touch ", "", "y", "✅ Allowed in the terminal", true},
				{"no", "esc touch ", "Deny", "", "❌ Denied in the chat", false},
				{"escape", "esc touch ", "", "Escape", "⏹ Interrupted, or denied in the terminal", false},
				{"yes.txt", "patch ", "Allow", "", "✅ Allowed in the chat", true},
				{"no.txt", "patch ", "Deny", "", "❌ Denied in the chat", false},
				{"escape.txt", "patch ", "", "Escape", "⏹ Interrupted, or denied in the terminal", false},
			} {
				file := filepath.Join(outside, tt.file)
				asked := w.offered(w.say(tt.word+file), "Deny")
				assert.Contains(t, asked.Text, file)
				if tt.word == "patch " {
					assert.Contains(t, asked.Text, "scripted")
				}
				w.shownIs(asked)
				if tt.key != "" {
					w.answersAtDesk(window, tt.key)
				} else {
					w.tap(asked, tt.tap)
				}
				w.becomes(asked, tt.says, false)
				w.until("the turn has ended", func() bool { return w.record("cx").Phase == "idle" })
				_, err := os.Stat(file)
				assert.Equal(t, tt.made, err == nil, file)
			}
			w.stop()
		})
	}
}

// answersAtDesk presses a key at the permission dialog of a window.
func (w *world) answersAtDesk(window, key string) {
	w.t.Helper()
	open := func() bool { return strings.Contains(w.tmux("capture-pane", "-p", "-t", window), "Would you like to") }
	w.until("the dialog is open too", open)
	w.presses(window, key, open)
}
