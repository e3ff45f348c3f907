package render

import (
	"testing"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ccbot/internal/sandbox"
	"ccbot/internal/sandbox/sandboxtest"
)

// The strict Bot API of the sandbox takes every part as it is: nothing is refused, trimmed or repaired.
func TestTheBotAPITakesEveryPart(t *testing.T) {
	const alice = 7
	srv := sandboxtest.Start(t, sandbox.Options{})
	srv.Person(alice, "Alice").Start()
	bot, err := tgbot.New(srv.Token(), tgbot.WithSkipGetMe(), tgbot.WithServerURL(srv.URL()))
	require.NoError(t, err)
	rapid.Check(t, func(r *rapid.T) {
		src, _ := soup(r)
		for _, p := range Markdown(src).Split(rapid.IntRange(2, 300).Draw(r, "limit")) {
			got, err := bot.SendMessage(t.Context(), &tgbot.SendMessageParams{ChatID: alice, Text: p.Text, Entities: p.Entities})
			if err != nil {
				r.Fatalf("%q: %v", show(p), err)
			}
			if got.Text != p.Text {
				r.Fatalf("sent %q, shown %q", p.Text, got.Text)
			}
			if mine := ours(got.Entities); len(mine) != len(ours(p.Entities)) {
				r.Fatalf("%q shown with %v", show(p), mine)
			}
		}
	})
}

// ours leaves out what Telegram finds by itself (addresses, commands).
func ours(list []models.MessageEntity) []models.MessageEntity {
	var out []models.MessageEntity
	for _, e := range list {
		switch e.Type {
		case bold, italic, strike, code, pre, quote, link:
			out = append(out, e)
		}
	}
	return out
}
