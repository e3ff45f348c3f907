package bot_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"

	"ccbot/bot/chat/chattest"
	"ccbot/internal/session"
	"ccbot/port"
)

// TestLoopSaysThatBudgetIsUsedUp: a loop that waits for its budget does not look as if it worked.
func TestLoopSaysThatBudgetIsUsedUp(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		w.Loops(t, r, port.Loop{ID: uuid.New(), Session: r.ID, Name: "api", State: port.LoopRunning, Step: port.LoopAsk, Reason: port.HeldBudget, Iteration: 1, Attempt: 1}, true)
		assert.Contains(t, w.Shows(t, w.Telegram.LastID()).Text.Text, "waits: the budget is used up")
	})
}
