package sessions

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/internal/address"
	"ccbot/port"
)

func TestTouchOf(t *testing.T) {
	alice, bob := address.Conversation{ChatID: 7}, address.Conversation{ChatID: 8}
	group, topic := address.Conversation{ChatID: -100}, address.Conversation{ChatID: -100, ThreadID: 5}
	for _, tt := range []struct {
		name          string
		to, shown     address.Conversation
		several, read bool
		want          touch
	}{
		{"a colleague reads it in private", bob, alice, true, true, looks},
		{"a colleague reads it in a topic", bob, topic, true, true, looks},
		{"nobody reads it", bob, alice, true, false, takes},
		{"it is shown here", alice, alice, true, true, takes},
		{"it has another topic of the group", group, topic, true, true, takes},
		{"it was only used at the desk", group, address.Conversation{}, true, false, takes},
		{"a group, and a private session", group, alice, true, true, hides},
		{"a group, and a private session that nobody reads", group, alice, true, false, hides},
		{"one person alone", alice, topic, false, true, takes},
		{"one person alone, in a group", group, alice, false, true, takes},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, touchOf(tt.to, port.Session{Conversation: tt.shown}, tt.several, tt.read))
		})
	}
}
