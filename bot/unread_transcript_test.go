package bot_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port/news"
)

// A file that is left unread has a message with its path, and a button that reads it again.
func TestP5_UnreadFileHasMessageWithButton(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "api", session.Running)
	path, again := "/home/alice/.claude/projects/p/x.jsonl", ""
	w.Figures.Unread = []string{path}
	w.Computer.ReadAgain = func(path string) { again, w.Figures.Unread = path, nil }
	require.NoError(t, w.SessionNews(t.Context(), session.Record{}, news.FileUnread{Path: path})) // it is of no session
	w.Telegram.Deliver(t.Context())
	m := w.Telegram.Last(t)
	said := i18n.Args{"Path": "~/.claude/projects/p/x.jsonl"}
	assert.Equal(t, chattest.Warning+w.Word(i18n.FileUnread, said), m.Text.Text)
	assert.Equal(t, []string{w.Word(i18n.ButtonTryAgain)}, chattest.Words(m))
	shown := tapped(t, w, m, w.Word(i18n.ButtonTryAgain))
	assert.Equal(t, path, again)
	assert.Equal(t, w.Word(i18n.FileReadAgain, said), shown.Text.Text)
	assert.Empty(t, chattest.Words(shown))
}

// The message reaches the conversations of the file's sessions, also in a bot that is used in
// groups only.
func TestP5_UnreadFileReachesItsConversation(t *testing.T) {
	w := chattest.NewWorld(t)
	path, again := "/home/alice/.claude/projects/p/x.jsonl", ""
	w.Figures.Unread = []string{path}
	w.Computer.ReadAgain = func(path string) { again, w.Figures.Unread = path, nil }
	require.Error(t, w.SessionNews(t.Context(), session.Record{}, news.FileUnread{Path: path}), "there is no chat yet, so the next start reports it")
	topic := outbox.Conversation{ChatID: chattest.Ours, ThreadID: 7}
	of := []outbox.Conversation{topic, topic, {ChatID: -200}, {}}
	require.NoError(t, w.SessionNews(t.Context(), session.Record{}, news.FileUnread{Path: path, To: of}))
	w.Telegram.Deliver(t.Context())
	require.Len(t, w.Telegram.Sent, 1)
	m := w.Telegram.Last(t)
	assert.Equal(t, topic, m.To)
	tapped(t, w, m, w.Word(i18n.ButtonTryAgain))
	assert.Equal(t, path, again)
}
