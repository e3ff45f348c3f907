package running

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/internal/address"
	"ccbot/port"
)

// TestP9_OwnerSeesScriptCalls shows a script's call where the people of its session read,
// not to the first person alone.
func TestP9_OwnerSeesScriptCalls(t *testing.T) {
	const first, owner = 1001, 1002
	topic := address.Conversation{ChatID: -5, ThreadID: 7}
	for _, tt := range []struct {
		name string
		r    port.Session
		want address.Conversation
	}{
		{"a new session", port.Session{}, address.Conversation{ChatID: first}},
		{"a session in a topic", port.Session{Owner: owner, Conversation: topic}, topic},
		{"a session without a conversation", port.Session{Owner: owner}, address.Conversation{ChatID: owner}},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, callShownAt(tt.r, first)) })
	}
}
