package quotation

import (
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
)

func TestNameOfBotIsCutOut(t *testing.T) {
	for text, want := range map[string]string{
		"@cc_bot look": "look", "@CC_Bot, look": "look", "@cc_bot:\nlook\n": "look\n", "look @cc_bot": "look", "look\n@cc_bot": "look",
		"@cc_bot /list": "/list", "ask @cc_bot why": "ask @cc_bot why", "@cc_bot": "@cc_bot", "@cc_bot ": "@cc_bot ", " @cc_bot": " @cc_bot",
		"@cc_bots look": "@cc_bots look", "@cc_bot/main.go": "@cc_bot/main.go", "mail me@cc_bot": "mail me@cc_bot", "@other_bot look": "@other_bot look",
		"": "", "é": "é", "世世世": "世世世",
	} {
		assert.Equal(t, want, unnamed(text, "cc_bot"), text)
	}
	private := &models.Message{From: &models.User{ID: 7}, Chat: models.Chat{ID: 7}, Text: "@cc_bot look"}
	_, _, text, _ := Read(private, "cc_bot")
	assert.Equal(t, "@cc_bot look", text, "in a private chat it may be a file")
}

func TestMeant(t *testing.T) {
	bob, bot := &models.User{ID: 8}, &models.User{ID: 99, IsBot: true}
	text := func(from *models.User) *models.Message {
		return &models.Message{ID: 3, From: from, Text: "the tests are red", Date: 1, ReplyToMessage: &models.Message{ID: 2}}
	}
	opening := text(bob)
	opening.Text, opening.ForumTopicCreated = "", &models.ForumTopicCreated{Name: "lunch"}
	admin := text(&models.User{ID: 1087968824, IsBot: true})
	admin.SenderChat = &models.Chat{ID: -100}
	for _, tt := range []struct {
		name, text string
		to         *models.Message
		want       bool
	}{
		{"the name alone", "@cc_bot", text(bob), true},
		{"with blanks, in other letters", " @CC_Bot\n", text(bob), true},
		{"of an anonymous administrator's text", "@cc_bot", admin, true},
		{"more words", "@cc_bot look", text(bob), false},
		{"the name of a person", "@bob", text(bob), false},
		{"the name of another bot", "@helper_bot", text(bob), false},
		{"no reply", "@cc_bot", nil, false},
		{"of a bot's text", "@cc_bot", text(bot), false},
		{"the first text of a topic", "@cc_bot", opening, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &models.Message{ID: 4, From: &models.User{ID: 7}, Chat: models.Chat{ID: -100}, MessageThreadID: 5, IsTopicMessage: true, Date: 9, Text: tt.text, ReplyToMessage: tt.to}
			assert.Equal(t, tt.want, Refers(m, "cc_bot"))
			if !tt.want {
				return
			}
			got := Meant(m)
			assert.Equal(t, &models.Message{ID: 3, From: tt.to.From, SenderChat: tt.to.SenderChat, Chat: m.Chat, MessageThreadID: 5, IsTopicMessage: true, Date: 9, Text: "the tests are red"}, got)
		})
	}
}
