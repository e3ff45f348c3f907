package botapi_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf16"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

// rich reads a small notation for tests: ⟦type|text⟧ or ⟦type:argument|text⟧, nested as needed.
func rich(src string) (string, []models.MessageEntity) {
	var out strings.Builder
	var list []models.MessageEntity
	var open []int
	offset := 0
	for src != "" {
		switch {
		case strings.HasPrefix(src, "⟦"):
			head, rest, _ := strings.Cut(strings.TrimPrefix(src, "⟦"), "|")
			kind, argument, _ := strings.Cut(head, ":")
			open = append(open, len(list))
			list = append(list, models.MessageEntity{Type: models.MessageEntityType(kind), Offset: offset})
			if kind == "pre" {
				list[len(list)-1].Language = argument
			} else {
				list[len(list)-1].URL = argument
			}
			src = rest
		case strings.HasPrefix(src, "⟧"):
			at := open[len(open)-1]
			list[at].Length = offset - list[at].Offset
			open, src = open[:len(open)-1], strings.TrimPrefix(src, "⟧")
		default:
			r := []rune(src)[0]
			out.WriteRune(r)
			offset += utf16.RuneLen(r)
			src = src[len(string(r)):]
		}
	}
	return out.String(), list
}

func keys(rows ...[]models.InlineKeyboardButton) models.InlineKeyboardMarkup {
	return models.InlineKeyboardMarkup{InlineKeyboard: rows}
}

func key(text, data, style string) models.InlineKeyboardButton {
	return models.InlineKeyboardButton{Text: text, CallbackData: data, Style: style}
}

// converse plays a day with the bot.
func converse(t *testing.T, srv *botapi.Server, b *tgbot.Bot) {
	t.Helper()
	me := srv.PagePerson()
	chat := me.ID()
	say := func(src string, markup any, reply int) *models.Message {
		text, entities := rich(src)
		p := &tgbot.SendMessageParams{ChatID: chat, Text: text, Entities: entities, ReplyMarkup: markup}
		if reply != 0 {
			p.ReplyParameters = &models.ReplyParameters{MessageID: reply}
		}
		m, err := b.SendMessage(t.Context(), p)
		require.NoError(t, err)
		return m
	}
	react := func(id int, emoji string) {
		_, err := b.SetMessageReaction(t.Context(), &tgbot.SetMessageReactionParams{ChatID: chat, MessageID: id, Reaction: []models.ReactionType{
			{Type: models.ReactionTypeTypeEmoji, ReactionTypeEmoji: &models.ReactionTypeEmoji{Emoji: emoji}},
		}})
		require.NoError(t, err)
	}
	me.Send(chat, "/new blog ~/code/blog")
	say("⟦bold|blog⟧ is ready in ⟦code|~/code/blog⟧\nSend me what to do. The same session is in your terminal: ⟦code|tmux attach -t ccbot⟧",
		keys([]models.InlineKeyboardButton{key("📋 Sessions", "list", ""), key("⚙️ Settings", "settings", "")}), 0)
	ask := me.Send(chat, "the dates on the index page are wrong for posts from last year. can you find out why and fix it?")
	react(ask, "👀")
	card := say("⏳ ⟦bold|Working⟧ · 41 s", nil, 0)
	text, entities := rich("✅ ⟦bold|Done⟧ · 1 min 12 s · 6 tools\n⟦expandable_blockquote|Read src/dates.go\nRead src/index.go\nGrep \"time.Local\" in src\nEdit src/dates.go\nBash go test ./...\nBash git diff --stat⟧")
	_, err := b.EditMessageText(t.Context(), &tgbot.EditMessageTextParams{ChatID: chat, MessageID: card.ID, Text: text, Entities: entities})
	require.NoError(t, err)
	say("Found it. ⟦code|formatDate⟧ drops the year whenever the month is ⟦italic|later⟧ than the current one, so December 2024 looks like this December:\n\n"+
		"⟦pre:go|func formatDate(t time.Time) string {\n\tif t.Year() == time.Now().Year() {\n\t\treturn t.Format(\"2 January\")\n\t}\n\treturn t.Format(\"2 January 2006\")\n}⟧\n\n"+
		"⟦bold|What changed⟧\n• the year is compared, not the month\n• ⟦strikethrough|time.Local⟧ → the blog's own time zone\n• two tests, both were red before\n\nThe rule is from ⟦text_link:https://go.dev/blog/|the Go blog⟧; see also https://pkg.go.dev/time", nil, ask)
	react(ask, "👍")
	thanks := me.Send(chat, "nice! run all the tests please")
	say("⟦blockquote|A note from the terminal: someone pressed Esc there, so this turn was interrupted.⟧\nThe key was ⟦spoiler|not printed⟧.", nil, 0)
	_, err = b.SendDocument(t.Context(), &tgbot.SendDocumentParams{ChatID: chat, Caption: "Full output of go test",
		Document: &models.InputFileUpload{Filename: "test-output.txt", Data: strings.NewReader(strings.Repeat("ok  blog/src 0.41s\n", 120))}})
	require.NoError(t, err)
	_, err = b.SendPhoto(t.Context(), &tgbot.SendPhotoParams{ChatID: chat,
		Photo:       &models.InputFileUpload{Filename: "screen.png", Data: bytes.NewReader(picture(t, 900, 420))},
		ReplyMarkup: keys([]models.InlineKeyboardButton{key("🔄 Refresh", "refresh", ""), key("⎋ Esc", "esc", ""), key("⏎ Enter", "enter", "")})})
	require.NoError(t, err)
	me.Send(chat, "👌")
	say("🔐 Claude wants to run a command:\n⟦pre:bash|git commit -am \"dates: compare the year, not the month\"⟧\nShall I commit this?", keys(
		[]models.InlineKeyboardButton{key("Allow", "perm:1:y", "success"), key("Deny", "perm:1:n", "danger")},
		[]models.InlineKeyboardButton{key("Allow git commit for this session", "perm:1:s", "")},
		[]models.InlineKeyboardButton{{Text: "Open the diff", URL: "https://example.com/diff"}, {Text: "Copy", CopyText: &models.CopyTextButton{Text: "git diff"}}},
	), thanks)
}
