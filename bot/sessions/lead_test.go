package sessions

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/internal/address"
)

func TestTheAddressOfATopic(t *testing.T) {
	for _, tt := range []struct {
		name string
		at   address.Conversation
		want string
	}{
		{"of a supergroup", address.Conversation{ChatID: -1001234567890, ThreadID: 7}, "https://t.me/c/1234567890/7"},
		{"its main lane", address.Conversation{ChatID: -1001234567890}, ""},
		{"of a private chat", address.Conversation{ChatID: 7, ThreadID: 7}, ""},
		{"of a basic group", address.Conversation{ChatID: -1005, ThreadID: 7}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, linkTo(tt.at)) })
	}
}
