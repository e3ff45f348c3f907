package botapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

func TestRichMessages(t *testing.T) {
	srv, p := started(t, botapi.Options{Rich: true})
	b := newBot(t, srv)
	ctx := t.Context()
	asked := p.Send(alice, "a table please")
	const source = "# Heading\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- [x] done"
	sent, err := b.SendRichMessage(ctx, &tgbot.SendRichMessageParams{
		ChatID: alice, RichMessage: models.InputRichMessage{Markdown: source}, DisableNotification: true,
		ReplyParameters: &models.ReplyParameters{MessageID: asked},
		ReplyMarkup:     keys([]models.InlineKeyboardButton{key("Go", "go:1", "")}),
	})
	require.NoError(t, err)
	assert.NotNil(t, sent.RichMessage)
	assert.Equal(t, "a table please", sent.ReplyToMessage.Text)
	m, _ := srv.Message(alice, sent.ID)
	assert.Equal(t, source, m.RichMarkdown)
	assert.Equal(t, source, m.Body())
	assert.Empty(t, m.Text)
	assert.True(t, m.Silent)
	assert.Len(t, m.Keyboard, 1)

	edit := func(p *tgbot.EditMessageTextParams) error {
		p.ChatID, p.MessageID = alice, sent.ID
		_, err := b.EditMessageText(ctx, p)
		return err
	}
	require.NoError(t, edit(&tgbot.EditMessageTextParams{RichMessage: &models.InputRichMessage{Markdown: "*less*"}}))
	m, _ = srv.Message(alice, sent.ID)
	assert.Equal(t, "*less*", m.RichMarkdown)
	assert.Empty(t, m.Keyboard)
	err = edit(&tgbot.EditMessageTextParams{RichMessage: &models.InputRichMessage{Markdown: "*less*"}})
	assert.ErrorContains(t, err, "message is not modified")
	require.NoError(t, edit(&tgbot.EditMessageTextParams{Text: "a text"}))
	m, _ = srv.Message(alice, sent.ID)
	assert.Equal(t, "a text", m.Text)
	assert.Empty(t, m.RichMarkdown)
	require.NoError(t, edit(&tgbot.EditMessageTextParams{RichMessage: &models.InputRichMessage{Markdown: "rich again"}}))
}

func TestOlderServerHasNoRichMessages(t *testing.T) {
	srv, _ := started(t, botapi.Options{})
	b := newBot(t, srv)
	in := models.InputRichMessage{Markdown: "x"}
	_, err := b.SendRichMessage(t.Context(), &tgbot.SendRichMessageParams{ChatID: alice, RichMessage: in})
	require.ErrorIs(t, err, tgbot.ErrorNotFound)
	sent, err := b.SendMessage(t.Context(), &tgbot.SendMessageParams{ChatID: alice, Text: "x"})
	require.NoError(t, err)
	_, err = b.EditMessageText(t.Context(), &tgbot.EditMessageTextParams{ChatID: alice, MessageID: sent.ID, RichMessage: &in})
	assert.ErrorContains(t, err, "message text is empty")
}

func TestRichLimits(t *testing.T) {
	quotes := func(n int) string { return strings.Repeat("> ", n) + "deep" }
	row := func(n int) string { return strings.Repeat("| x ", n) + "|\n" }
	table := func(n int) string { return row(n) + strings.Repeat("|---", n) + "|\n" + row(n) }
	details := func(n int) string { return strings.Repeat("<details>", n) + "x" + strings.Repeat("</details>", n) }
	paragraphs := func(n int) any {
		blocks := make([]map[string]any, n)
		for i := range blocks {
			blocks[i] = map[string]any{"type": "paragraph", "text": []any{"some ", map[string]any{"type": "bold", "text": "text"}}}
		}
		return blocks
	}
	const empty, long, many = "RICH_MESSAGE_CONTENT_REQUIRED", "RICH_MESSAGE_TEXT_TOO_LONG", "RICH_MESSAGE_BLOCKS_TOO_MANY"
	tests := []struct {
		name    string
		message map[string]any
		refused string // "" when it is taken
	}{
		{"nothing", map[string]any{}, empty},
		{"blanks", map[string]any{"markdown": " \n\n "}, empty},
		{"an empty heading", map[string]any{"markdown": "## "}, empty},
		{"two at once", map[string]any{"markdown": "a", "html": "<p>a</p>"}, "exactly one of"},
		{"all characters", map[string]any{"markdown": strings.Repeat("🙂", 32_768)}, ""},
		{"one more", map[string]any{"markdown": strings.Repeat("a", 32_769)}, long},
		{"500 paragraphs", map[string]any{"markdown": strings.Repeat("a\n\n", 500)}, ""},
		{"501 paragraphs", map[string]any{"markdown": strings.Repeat("a\n\n", 501)}, many},
		{"a list of 499 items", map[string]any{"markdown": strings.Repeat("- a\n", 499)}, ""},
		{"a list of 500 items", map[string]any{"markdown": strings.Repeat("- a\n", 500)}, many},
		{"a table of 499 rows", map[string]any{"markdown": table(2) + strings.Repeat(row(2), 497)}, ""},
		{"a table of 500 rows", map[string]any{"markdown": table(2) + strings.Repeat(row(2), 498)}, many},
		{"many lines of one block", map[string]any{"markdown": "```\n" + strings.Repeat("a\n", 1000) + "```"}, ""},
		{"20 columns", map[string]any{"markdown": table(20)}, ""},
		{"21 columns", map[string]any{"markdown": table(21)}, "more than 20 columns"},
		{"16 levels", map[string]any{"markdown": quotes(15)}, ""},
		{"17 levels", map[string]any{"markdown": quotes(16)}, "more than 16 levels"},
		{"a draft's tag", map[string]any{"markdown": "<tg-thinking>hm</tg-thinking>"}, "drafts only"},
		{"the tag as code", map[string]any{"markdown": "`<tg-thinking>`"}, ""},
		{"HTML", map[string]any{"html": "<h1>a</h1><p>b</p><table><tr><td>c</td></tr></table>"}, ""},
		{"HTML without a text", map[string]any{"html": "<p></p>"}, empty},
		{"HTML of 501 blocks", map[string]any{"html": strings.Repeat("<p>a</p>", 501)}, many},
		{"HTML of 17 levels", map[string]any{"html": details(17)}, "more than 16 levels"},
		{"HTML of 21 columns", map[string]any{"html": "<table><tr>" + strings.Repeat("<td>a</td>", 21) + "</tr></table>"}, "more than 20 columns"},
		{"blocks", map[string]any{"blocks": paragraphs(500)}, ""},
		{"501 blocks", map[string]any{"blocks": paragraphs(501)}, many},
		{"no blocks", map[string]any{"blocks": []any{}}, empty},
		{"blocks of another form", map[string]any{"blocks": "paragraph"}, "can't parse InputRichBlock"},
		{"a block with too much text", map[string]any{"blocks": []any{map[string]any{"type": "paragraph", "text": strings.Repeat("a", 32_769)}}}, long},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv, _ := started(t, botapi.Options{Rich: true})
			raw, err := json.Marshal(tt.message)
			require.NoError(t, err)
			r := call(t, srv, "sendRichMessage", map[string]string{"chat_id": "42", "rich_message": string(raw)})
			if tt.refused == "" {
				assert.True(t, r.OK, r.Description)
				return
			}
			assert.Equal(t, 400, r.Code)
			assert.Contains(t, r.Description, tt.refused)
			assert.Empty(t, srv.Messages(alice))
		})
	}
}
