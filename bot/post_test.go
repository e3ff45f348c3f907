package bot_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// A long notice is posted in one piece: the outbox splits it, and takes back what it wrote when the
// disk fails in the middle. A retry of parts would repeat the first.
func TestLongNoticeIsOnePost(t *testing.T) {
	w := chattest.NewWorld(t)
	long := chattest.Plain(strings.Repeat("word ", 2000))
	links := w.In(chattest.AtAlice).Link(i18n.ButtonOpen, chat.OpenLink, uuid.New(), "")
	var posted []outbox.Message
	w.Telegram.OnPost = func(m outbox.Message) error {
		posted = append(posted, m)
		return nil
	}
	require.NoError(t, w.Warn(t.Context(), chattest.AtAlice, 7, long, nil))
	require.NoError(t, w.Post(t.Context(), card.Content{To: chattest.AtAlice, Text: long, Options: links}))
	require.NoError(t, w.Post(t.Context(), card.Content{To: chattest.AtAlice, Text: chattest.Plain(" ")}), "there is nothing to see in it")
	require.Len(t, posted, 3)
	assert.Equal(t, 7, posted[0].ReplyTo)
	assert.Equal(t, chattest.Warning+long.Text, posted[0].Text.Text)
	assert.Empty(t, posted[1].Name, "what stands above the last part")
	w.Telegram.Deliver(t.Context())
	last := w.Telegram.Last(t)
	assert.Equal(t, posted[2].Name, last.Name)
	assert.Len(t, chattest.Words(last), 1)
	assert.Equal(t, len(strings.Fields(long.Text)), strings.Count(posted[1].Text.Text, "word")+strings.Count(last.Text.Text, "word"))
}

// The words of an option decide nothing about the card that has it.
func TestFeatureChoosesCardKind(t *testing.T) {
	w := chattest.NewWorld(t)
	links, notices := chat.NewCards[struct{}](w.Deps.Chat, chat.LinkKind), chat.NewCards[struct{}](w.Deps.Chat, chat.NoticeKind)
	look := card.Content{To: chattest.AtAlice, Text: render.Plain("x"), Options: [][]card.Option{{{Text: "y", Value: "opened:x"}}}}
	require.NoError(t, w.Deps.Chat.Post(t.Context(), look))
	assert.Equal(t, []int{1, 0}, []int{len(links.List()), len(notices.List())})
	require.NoError(t, w.Deps.Chat.Notify(t.Context(), look))
	assert.Equal(t, []int{1, 1}, []int{len(links.List()), len(notices.List())})
}
