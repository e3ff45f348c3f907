package bot_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/machine"
	"ccbot/bot/outbox"
	"ccbot/bot/turn"
	"ccbot/lifecycle/view"
	"ccbot/port"
)

// A chat takes one edit of a card in three seconds: more updates would be wasted.
func TestCardUpdatesFollowEditPace(t *testing.T) {
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

// counted counts how often the transcript of a session is read for its work.
type counted struct {
	machine.Sessions
	reads int
}

func (c *counted) Brief(ctx context.Context, id uuid.UUID) (port.Work, error) {
	c.reads++
	return c.Sessions.Brief(ctx, id)
}

func TestTurnIsRereadOnlyForTasks(t *testing.T) {
	inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
		w.Lifecycle.OnLook = view.Status{Usage: &port.Usage{Model: "Opus 5.5", Context: 40}}
		works := &counted{Sessions: w.Sessions}
		w.Sessions = works
		w.Restart(t)
		w.types("go")
		w.phase("working")
		w.writes(chattest.PromptLine("go"))
		before := works.reads
		w.Lifecycle.OnLook = view.Status{Usage: &port.Usage{Model: "Opus 5.5", Context: 60}}
		for i := range 40 {
			w.writes(bash(fmt.Sprint(i), "ls"))
		}
		assert.Contains(t, w.card(), "60% of context")
		assert.Equal(t, before, works.reads)
		todos := []any{map[string]any{"content": "one", "status": "in_progress"}}
		w.writes(toolUse("t", "TodoWrite", map[string]any{"todos": todos}), toolResult("t", false))
		w.Later(outbox.CardsEach)
		assert.Contains(t, w.card(), "☰ 0/1: one")
		assert.Equal(t, before+1, works.reads)
	})
}
