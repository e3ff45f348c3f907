package outbox

import (
	"image"
	"image/png"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	tgbot "github.com/go-telegram/bot"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/render"
	"ccbot/internal/session"
	"ccbot/try/botapi"
	"ccbot/try/botapi/botapitest"
)

// againstStandIn runs an outbox against the stand-in of the Bot API, which is as strict as
// Telegram; a person has a chat with the bot.
func againstStandIn(t *testing.T, opt botapi.Options) (*bench, *botapi.Server, *botapi.Person) {
	t.Helper()
	srv := botapitest.Start(t, opt)
	p := srv.Person(42, "Alice")
	p.Start()
	bot, err := tgbot.New(srv.Token(), tgbot.WithSkipGetMe(), tgbot.WithServerURL(srv.URL()))
	require.NoError(t, err)
	dir := t.TempDir()
	b := &bench{Outbox: New(bot, srv.URL(), filepath.Join(dir, "outbox"), slog.New(slog.DiscardHandler)), dir: dir}
	b.run(t)
	return b, srv, p
}

func TestSandboxTakesRichMessages(t *testing.T) {
	t.Parallel()
	b, srv, p := againstStandIn(t, botapi.Options{Rich: true})
	id, err := b.Send(t.Context(), rich(p.ID(), "# Title\n\n- [x] done"))
	require.NoError(t, err)
	m, _ := srv.Message(p.ID(), id)
	assert.Equal(t, "# Title\n\n- [x] done", m.RichMarkdown)
	_, err = b.Send(t.Context(), rich(p.ID(), strings.Repeat("x", 40_000)))
	refused := (*Refused)(nil)
	require.ErrorAs(t, err, &refused)
	assert.True(t, b.TakesRich())
}

func TestSandboxWithoutRichMessages(t *testing.T) {
	b, _, p := againstStandIn(t, botapi.Options{})
	_, err := b.Send(t.Context(), rich(p.ID(), "# Title"))
	require.ErrorIs(t, err, ErrNoRich)
	assert.False(t, b.TakesRich())
	_, err = b.Send(t.Context(), say(p.ID(), "Title"))
	require.NoError(t, err)
}

func TestSandboxTakesPhotos(t *testing.T) {
	t.Parallel()
	b, srv, p := againstStandIn(t, botapi.Options{})
	var data strings.Builder
	require.NoError(t, png.Encode(&data, image.NewGray(image.Rect(0, 0, 8, 8))))
	f := file(p.ID(), data.String())
	f.Name, f.Photo, f.Caption = "a.png", true, render.Plain("look")
	id, err := b.SendFile(t.Context(), f)
	require.NoError(t, err)
	m, _ := srv.Message(p.ID(), id)
	assert.NotEmpty(t, m.Photo)
	f = file(p.ID(), "no picture")
	f.Photo = true
	id, err = b.SendFile(t.Context(), f)
	require.NoError(t, err)
	m, _ = srv.Message(p.ID(), id)
	assert.NotNil(t, m.Document, "what is no picture is sent all the same")
}

// TestP5_SandboxChangesPlaces: a group that becomes a supergroup, a topic that is deleted,
// a person who blocks.
func TestP5_SandboxChangesPlaces(t *testing.T) {
	t.Parallel()
	b, srv, p := againstStandIn(t, botapi.Options{})
	moved, gone := make(chan [][]int64, 9), make(chan session.Conversation, 9)
	b.mu.Lock() // Run runs
	b.OnMigrate = func() { moved <- b.Aliases.Moved() }
	b.OnTopicGone = func(lost session.Conversation) { gone <- lost }
	b.mu.Unlock()
	const old, grown = int64(-500), int64(-1001234567890)
	srv.Group(old, "group", false)
	id, err := b.Send(t.Context(), say(old, "before"))
	require.NoError(t, err)
	require.NoError(t, p.Migrate(old, grown))
	require.NoError(t, b.Post(t.Context(), say(old, "posted")))
	for _, text := range []string{"one", "two"} {
		m := say(old, text)
		m.ReplyTo = id
		_, err = b.Send(t.Context(), m)
		require.NoError(t, err)
	}
	var texts []string
	for _, m := range srv.Messages(grown) {
		if m.FromBot {
			texts = append(texts, m.Text)
		}
	}
	assert.Equal(t, []string{"posted", "one", "two"}, texts)
	assert.Equal(t, [][]int64{{old, grown}}, <-moved)

	topic := p.OpenTopic(p.ID(), "topic")
	_, err = b.Send(t.Context(), inTopic(p.ID(), topic, "in the topic"))
	require.NoError(t, err)
	require.NoError(t, p.DeleteTopic(p.ID(), topic))
	for range 2 {
		id, err = b.Send(t.Context(), inTopic(p.ID(), topic, "after it"))
		require.NoError(t, err)
		m, _ := srv.Message(p.ID(), id)
		assert.Zero(t, m.Thread)
	}
	assert.Equal(t, session.Conversation{ChatID: p.ID(), ThreadID: topic}, <-gone)

	p.Block(true)
	_, err = b.Send(t.Context(), say(p.ID(), "x"))
	require.ErrorIs(t, err, ErrBlocked)
	require.NoError(t, b.Post(t.Context(), say(p.ID(), "kept")))
	calls := len(srv.Calls())
	_, err = b.Send(t.Context(), say(p.ID(), "x"))
	require.ErrorIs(t, err, ErrBlocked)
	assert.Len(t, srv.Calls(), calls)
	p.Block(false)
	b.Resume(p.ID())
	_, err = b.Send(t.Context(), say(p.ID(), "again"))
	require.NoError(t, err)
	all := srv.Messages(p.ID())
	assert.Equal(t, []string{"kept", "again"}, []string{all[len(all)-2].Text, all[len(all)-1].Text})
	require.NoError(t, b.stop())
	assert.Empty(t, moved, "it is told once")
	assert.Empty(t, gone)
}
