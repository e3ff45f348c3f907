package bot_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/port/talk"
)

// TestP4_CutTextIsOnePrompt has the parts of a text become one prompt, whose parts lead to its
// session.
func TestP4_CutTextIsOnePrompt(t *testing.T) {
	line, full := strings.Repeat("x", 3600), strings.Repeat("y", 4096)
	d := chattest.NewMediaWorld(t)
	key, handle := d.AlbumOf(t, models.Message{Text: line}, models.Message{Text: full}, models.Message{Text: "z"})
	require.NoError(t, handle(t.Context()))
	d.IsOnePrompt(t, key, line+"\n"+full+"z")
	assert.Equal(t, []string{"queue " + key + " for " + d.R.ID.String()}, d.Lifecycle.Done())
	for _, id := range []int{1001, 1002, 1003} {
		of, ok := d.Chats.SessionOf(chattest.AtAlice, id)
		assert.True(t, ok && of == d.R.ID, "a reply to message %d goes to the session", id)
	}
}

func TestP4_CutTextsEditKeepsOtherParts(t *testing.T) {
	line := strings.Repeat("x", 3600)
	d := chattest.NewMediaWorld(t)
	key, handle := d.AlbumOf(t, models.Message{Text: line}, models.Message{Text: "end"})
	require.NoError(t, handle(t.Context()))
	for _, edit := range []struct {
		message    int
		text, want string
	}{{1002, "the end", line + "\nthe end"}, {1001, "short", "short\nthe end"}} {
		require.NoError(t, d.Edit(t, edit.message, edit.text))
		want := fmt.Sprintf("reword %s of %s as %s %q", key, d.R.ID, talk.ClassPlain, edit.want)
		assert.Equal(t, want, d.Lifecycle.Done()[len(d.Lifecycle.Done())-1])
	}
	assert.Empty(t, d.Telegram.Texts(), "no edit is refused")
}
