package chat_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/bot/chat/chattest"
	"ccbot/internal/address"
)

func TestLinkTo(t *testing.T) {
	w := chattest.NewWorld(t)
	for _, tt := range []struct {
		name    string
		at      address.Conversation
		message int
		want    string
	}{
		{"a topic", address.Conversation{ChatID: -1001234567890, ThreadID: 7}, 0, "https://t.me/c/1234567890/7"},
		{"a message of a topic", address.Conversation{ChatID: -1001234567890, ThreadID: 7}, 9, "https://t.me/c/1234567890/7/9"},
		{"a message of a supergroup", address.Conversation{ChatID: -1001234567890}, 9, "https://t.me/c/1234567890/9"},
		{"the main lane of a supergroup", address.Conversation{ChatID: -1001234567890}, 0, ""},
		{"a private chat", address.Conversation{ChatID: 7, ThreadID: 7}, 9, ""},
		{"a basic group", address.Conversation{ChatID: -1005, ThreadID: 7}, 9, ""},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, w.LinkTo(tt.at, tt.message)) })
	}
}
