package bot_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
)

// TestP9_RemovedPersonGetsNoAnswers: a person removed from the list gets none, an added one does.
func TestP9_RemovedPersonGetsNoAnswers(t *testing.T) {
	w := chattest.NewWorld(t)
	alice, bob := chattest.PrivateChat(chattest.Alice), chattest.PrivateChat(chattest.Bob)
	w.Admit(conversation.Lists{People: map[int64]bool{chattest.Bob: true}})
	assert.False(t, w.IsAuthorized(chattest.Alice, alice))
	assert.False(t, w.IsAuthorized(chattest.Bob, chattest.GroupChat(chattest.Ours)))
	assert.True(t, w.IsAuthorized(chattest.Bob, bob))
	w.Admit(conversation.Lists{People: map[int64]bool{chattest.Alice: true}, Groups: map[int64]bool{chattest.Ours: true}})
	assert.True(t, w.IsAuthorized(chattest.Alice, alice))
	assert.True(t, w.IsAuthorized(chattest.Alice, chattest.GroupChat(chattest.Ours)))
	assert.False(t, w.IsAuthorized(chattest.Bob, bob))
}
