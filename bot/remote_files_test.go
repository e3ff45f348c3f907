package bot_test

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/fleet/wire"
	"ccbot/internal/session"
)

// TestP5_PictureOfUnreachableMachine: a picture whose content does not arrive is shown later, and
// not left out as one that Telegram refuses.
func TestP5_PictureOfUnreachableMachine(t *testing.T) {
	chattest.RunsRemote(t, func(t *testing.T, w *chattest.World) {
		var sent []string
		uploads := 0
		w.Telegram.Upload = func(f outbox.File) error {
			if uploads++; uploads == 1 {
				w.Link.Set(wire.Faults{Unreachable: true})
				time.AfterFunc(time.Minute, func() { w.Link.Set(wire.Faults{}) })
			}
			data, err := io.ReadAll(io.NewSectionReader(f.Body, 0, f.Size))
			if err != nil {
				return &outbox.Refused{Err: err} // as the outbox does
			}
			sent = append(sent, string(data))
			return nil
		}
		r := w.NewCurrentSession(t, "api", session.Completed, chattest.TranscriptOf(t, "t.jsonl", chattest.Says("look"), pictured("image/png"), chattest.Says("nice")))
		w.NewTranscript(t, r)
		w.Later(10 * time.Minute)
		assert.Equal(t, []string{"picture 1"}, sent)
		assert.Equal(t, []string{"look", "nice"}, w.Telegram.AnswersSent())
		for _, m := range w.Telegram.Posted {
			assert.NotEqual(t, w.Marker(r), m.Text.Text)
		}
		require.Greater(t, uploads, 1)
	})
}
