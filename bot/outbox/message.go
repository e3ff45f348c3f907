package outbox

import (
	"crypto/sha256"
	"encoding/json"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"ccbot/bot/render"
	"ccbot/internal/session"
)

// Conversation is where a message goes: a chat and a topic of it.
type Conversation = session.Conversation

// Style is the colour of a button (Bot API 9.4); clients that do not know it show a plain one.
type Style string

// The styles Telegram knows; the zero value is the plain button.
const (
	Primary Style = "primary"
	Success Style = "success"
	Danger  Style = "danger"
)

// Button is one inline button. Data is what a tap sends back, 1 to 64 bytes (Bot API, callback_data).
type Button struct {
	Text  string `json:"text"`
	Data  string `json:"data"`
	Style Style  `json:"style,omitempty"`
}

// Message is one message: a text of at most render.Limit UTF-16 units, rows of buttons under it, and the id of the
// message it answers (0: none). Silent ones make no sound. In an edit To, ReplyTo and Silent mean nothing.
type Message struct {
	To      session.Conversation `json:"to"`
	Text    render.Text          `json:"text"`
	Buttons [][]Button           `json:"buttons,omitempty"`
	ReplyTo int                  `json:"reply_to,omitempty"`
	Silent  bool                 `json:"silent,omitempty"`
}

// change is what an edit asks for: a new message, or only new buttons under the old text.
type change struct {
	message     Message
	buttonsOnly bool
}

// then is the change that has the effect of c and, after it, of d.
func (c change) then(d change) change {
	if d.buttonsOnly && !c.buttonsOnly {
		c.message.Buttons = d.message.Buttons
		return c
	}
	return d
}

// shown is what a message in the chat looks like, as digests; a zero digest is not known.
type shown struct{ text, buttons [sha256.Size]byte }

func looksOf(c change) shown {
	s := shown{buttons: digest(c.message.Buttons)}
	if !c.buttonsOnly {
		s.text = digest(c.message.Text)
	}
	return s
}

// changedBy says that c makes a message that looks like s look different.
func (s shown) changedBy(c change) bool {
	n := looksOf(c)
	return n.buttons != s.buttons || !c.buttonsOnly && n.text != s.text
}

// after is what the message looks like when c was done.
func (s shown) after(c change) shown {
	n := looksOf(c)
	if c.buttonsOnly {
		n.text = s.text
	}
	return n
}

func digest(v any) [sha256.Size]byte {
	data, _ := json.Marshal(v) // strings, numbers and structs of them: it cannot fail
	return sha256.Sum256(data)
}

func keyboard(rows [][]Button) models.ReplyMarkup {
	var out [][]models.InlineKeyboardButton
	for _, row := range rows {
		var buttons []models.InlineKeyboardButton
		for _, b := range row {
			buttons = append(buttons, models.InlineKeyboardButton{Text: b.Text, CallbackData: b.Data, Style: string(b.Style)})
		}
		if len(buttons) > 0 {
			out = append(out, buttons)
		}
	}
	if len(out) == 0 {
		return nil // an absent keyboard in an edit takes the old one away
	}
	return &models.InlineKeyboardMarkup{InlineKeyboard: out}
}

// noPreview: a preview of the first link pushes an answer off a phone's screen.
func noPreview() *models.LinkPreviewOptions {
	return &models.LinkPreviewOptions{IsDisabled: tgbot.True()}
}

func sendParams(to session.Conversation, m Message) *tgbot.SendMessageParams {
	p := &tgbot.SendMessageParams{
		ChatID: to.ChatID, MessageThreadID: to.ThreadID, Text: m.Text.Text, Entities: m.Text.Entities,
		LinkPreviewOptions: noPreview(), DisableNotification: m.Silent, ReplyMarkup: keyboard(m.Buttons),
	}
	if m.ReplyTo != 0 {
		p.ReplyParameters = &models.ReplyParameters{MessageID: m.ReplyTo, AllowSendingWithoutReply: true}
	}
	return p
}

func editParams(chat int64, messageID int, m Message) *tgbot.EditMessageTextParams {
	return &tgbot.EditMessageTextParams{
		ChatID: chat, MessageID: messageID, Text: m.Text.Text, Entities: m.Text.Entities,
		LinkPreviewOptions: noPreview(), ReplyMarkup: keyboard(m.Buttons),
	}
}
