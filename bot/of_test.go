package bot_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
)

// A long notice is posted in one piece: the outbox splits it, and takes back what it wrote when the
// disk fails in the middle. A retry of parts would repeat the first.
func TestALongNoticeIsOnePost(t *testing.T) {
	w := chattest.NewWorld(t)
	long, buttons := chattest.Plain(strings.Repeat("word ", 2000)), [][]outbox.Button{{{Text: "ok", Data: "d"}}}
	var posted []outbox.Message
	w.Telegram.OnPost = func(m outbox.Message) error {
		posted = append(posted, m)
		return nil
	}
	require.NoError(t, w.Warn(t.Context(), chattest.AtAlice, 7, long, buttons))
	require.NoError(t, w.For(uuid.Nil).Post(t.Context(), chattest.AtAlice, long, buttons))
	require.NoError(t, w.For(uuid.Nil).Post(t.Context(), chattest.AtAlice, chattest.Plain(" "), nil), "there is nothing to see in it")
	require.Len(t, posted, 2)
	assert.Equal(t, 7, posted[0].ReplyTo)
	assert.Equal(t, long.Text, posted[1].Text.Text)
	for _, m := range posted {
		assert.Equal(t, buttons, m.Buttons)
	}
}
