package render

import (
	"testing"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ccbot/try/botapi"
	"ccbot/try/botapi/botapitest"
)

// accepting returns the sending of a part to the strict stand-in of the Bot API, which refuses,
// trims and repairs nothing. It does not look into files.
func accepting(t *testing.T, o botapi.Options) func(p Part) (*models.Message, error) {
	t.Helper()
	const alice = 7
	srv := botapitest.Start(t, o)
	srv.Person(alice, "Alice").Start()
	bot, err := tgbot.New(srv.Token(), tgbot.WithSkipGetMe(), tgbot.WithServerURL(srv.URL()))
	require.NoError(t, err)
	return func(p Part) (*models.Message, error) {
		switch {
		case p.File != nil:
			return nil, nil
		case p.Rich != "":
			return bot.SendRichMessage(t.Context(), &tgbot.SendRichMessageParams{ChatID: alice, RichMessage: models.InputRichMessage{Markdown: p.Rich, SkipEntityDetection: true}})
		}
		return bot.SendMessage(t.Context(), &tgbot.SendMessageParams{ChatID: alice, Text: p.Text.Text, Entities: p.Text.Entities})
	}
}

func TestBotAPIAcceptsEveryPart(t *testing.T) {
	sent := accepting(t, botapi.Options{})
	rapid.Check(t, func(r *rapid.T) {
		src, _ := soup(r)
		for _, p := range Markdown(src).Split(rapid.IntRange(2, 300).Draw(r, "limit")) {
			got, err := sent(Part{Text: p})
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

// ours leaves out the entities that Telegram adds (addresses, commands).
func ours(list []models.MessageEntity) []models.MessageEntity {
	var out []models.MessageEntity
	for _, e := range list {
		switch e.Type {
		case bold, italic, strike, code, pre, quote, quoteX, link:
			out = append(out, e)
		}
	}
	return out
}
