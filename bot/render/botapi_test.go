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

// The strict stand-in of the Bot API takes every part as it is: nothing is refused, trimmed or
// repaired.
func TestBotAPIAcceptsEveryPart(t *testing.T) {
	const alice = 7
	srv := botapitest.Start(t, botapi.Options{})
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

// It also accepts the renderers' forms of an answer, as rich messages and without.
func TestBotAPIAcceptsEveryAnswer(t *testing.T) {
	const alice = 7
	srv := botapitest.Start(t, botapi.Options{Rich: true})
	srv.Person(alice, "Alice").Start()
	bot, err := tgbot.New(srv.Token(), tgbot.WithSkipGetMe(), tgbot.WithServerURL(srv.URL()))
	require.NoError(t, err)
	rapid.Check(t, func(r *rapid.T) {
		n := nasty{t: r}
		n.blocks("", 14)
		for name, renderer := range renderers() {
			for _, p := range renderer(n.out.String(), 0) {
				var err error
				switch {
				case p.File != nil: // the stand-in does not look into files
				case p.Rich != "":
					_, err = bot.SendRichMessage(t.Context(), &tgbot.SendRichMessageParams{ChatID: alice, RichMessage: models.InputRichMessage{Markdown: p.Rich, SkipEntityDetection: true}})
				default:
					_, err = bot.SendMessage(t.Context(), &tgbot.SendMessageParams{ChatID: alice, Text: p.Text.Text, Entities: p.Text.Entities})
				}
				if err != nil {
					r.Fatalf("%s: %q %q: %v", name, p.Rich, show(p.Text), err)
				}
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
