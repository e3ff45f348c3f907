//go:build linux

package e2e

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

// TestRealP5_CodexPictures: Codex sees a photo from the chat, and a picture that its model makes comes to
// the chat.
func TestRealP5_CodexPictures(t *testing.T) {
	t.Parallel()
	w := newCodexWorld(t)
	w.start()
	w.hear(w.say("/new cx "+w.dir+" --agent codex"), "cx is ready")
	w.hear(w.say("say hello"), "hello")
	photo, err := w.person.SendPhoto(w.chat(), picture(t, 1), "look at it")
	require.NoError(t, err)
	w.hear(photo, "pictures: 1")
	w.hear(w.say("look again"), "pictures: 0")

	drawn := w.say("draw")
	w.hear(drawn, "Here it is.")
	w.until("the picture comes", func() bool {
		return slices.ContainsFunc(w.api.Messages(w.chat()), func(m botapi.Message) bool {
			return m.FromBot && m.ID > drawn && len(m.Photo) > 0
		})
	})
	w.hear(w.say("say after it"), "after it")
	w.stop()
}
