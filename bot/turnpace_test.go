package bot_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/turn"
)

// A chat takes one edit of a card in three seconds: more looks than that are made for nobody.
func TestACardIsDrawnAtThePaceOfItsEdits(t *testing.T) {
	inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
		w.types("go")
		w.phase("working")
		w.writes(chattest.PromptLine("go"))
		w.Later(time.Minute)
		edits := len(w.Telegram.Edited)
		for i := range 100 {
			chattest.Grow(t, w.c, bash(fmt.Sprint(i), fmt.Sprintf("command %d", i)))
			w.Later(20 * time.Millisecond)
		}
		assert.Equal(t, edits+1, len(w.Telegram.Edited), "the first line is shown at once")
		w.phase("waiting_permission")
		assert.Contains(t, w.card(), "▸ command 99", "and so is a turning point")
		assert.Equal(t, edits+2, len(w.Telegram.Edited))
		chattest.Grow(t, w.c, bash("next", "next"))
		w.Later(time.Minute)
		assert.Contains(t, w.card(), "▸ next", "the last line of all is shown in the end")
		chattest.Grow(t, w.c, bash("last", "last"), bash("really", "last"), chattest.TurnEnd)
		w.Later(20 * time.Millisecond)
		w.phase("idle")
		assert.Contains(t, w.card(), "103 steps")
		assert.LessOrEqual(t, len(w.Telegram.Edited), edits+6)
	})
}
