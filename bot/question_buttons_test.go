package bot_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/internal/session"
)

// TestP4_QuestionObeysTelegramsButtonLimit: otherwise the question would be refused and lost.
func TestP4_QuestionObeysTelegramsButtonLimit(t *testing.T) {
	w := chattest.NewWorld(t)
	for n := range 120 {
		w.Session(t, fmt.Sprint("s", n), session.Running)
	}
	key := w.MustHear(t, "hi")
	words := chattest.Words(w.LastSent(t))
	assert.LessOrEqual(t, len(words), 100)
	assert.Subset(t, words, w.SendTo("s119"), "the newest are offered")
	assert.Equal(t, inbox.Asked, w.EntryState(key))
}
