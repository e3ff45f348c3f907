package bot_test

import (
	"bytes"
	"log/slog"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/internal/session"
	"ccbot/internal/wording"
)

// marker is in everything that a person writes in the tests of the log.
const marker = "Zq7marker"

// TestP9_LogHasNoPeoplesWords sends a marker with every command, as a name and as a path and as a
// prompt, and looks for it in the log at its lowest level.
func TestP9_LogHasNoPeoplesWords(t *testing.T) {
	arguments := []string{marker, "n " + marker, "n /" + marker, "n ~/" + marker + "/x y", "/" + marker, "./" + marker, "n ../" + marker,
		"n /dev/null/" + marker, "n machine:/" + marker, "n /srv/" + marker + "\" 'q"}
	texts := []string{marker, "!" + marker, "//" + marker, "/" + marker, "@" + marker}
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		for _, feature := range w.Features() {
			for _, command := range feature.Commands {
				for _, argument := range arguments {
					texts = append(texts, "/"+command.Name+" "+argument)
				}
			}
		}
		slices.Sort(texts)
		var log bytes.Buffer
		w.Deps.Chat.Log = slog.New(wording.NewHandler(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}), w.Dir))
		w.Again()
		w.NewCurrentSession(t, "api", session.Running)
		for _, text := range texts {
			_, u := w.AcceptText(t, text)
			if err := w.HandleText(t, "", u); err != nil { // which the inbox logs
				assert.NotContains(t, wording.Mask("").Error(err), marker)
			}
			w.Work(t)
		}
		require.Contains(t, log.String(), `"request_refused"`, "the refusals are logged")
		assert.NotContains(t, log.String(), marker)
	})
}
