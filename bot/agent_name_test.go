package bot_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"ccbot/agent"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/turn"
	"ccbot/internal/session"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// The card of a turn, the list, an error and the history name an agent that is not the default one.
func TestOtherAgentIsNamed(t *testing.T) {
	inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
		other := w.Hosted.Agents[agent.Default]
		other.Product = "Codex"
		w.Hosted.Agents["codex"] = other
		w.Records.Change(w.r.ID, func(r *session.Record) { r.AgentName = "codex" })
		w.types("go")
		w.phase("working")
		w.writes(chattest.PromptLine("go"), bash("a", "one"))
		assert.Contains(t, w.card(), "\nCodex")
		w.MustHear(t, "/list")
		assert.Contains(t, w.Telegram.Last(t).Text.Text, " · Codex\n")
		w.tells(news.Retrying{Now: talk.Activity{Phase: talk.PhaseAPIError, What: "529 Overloaded", Until: time.Now()}})
		assert.Contains(t, w.Telegram.Last(t).Text.Text, "api gets an error from Codex")
		w.MustHear(t, "/history")
		history := w.Telegram.Last(t).Text.Text
		assert.Contains(t, history, "1. Codex")
		assert.NotContains(t, history, "Claude")
	})
}
