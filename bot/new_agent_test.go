package bot_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/bot/chat/chattest"
	"ccbot/i18n"
)

// A session of another agent than the default one is named as such when it starts and in lists, and
// an agent that ccbot does not have starts none.
func TestNewChoosesAgent(t *testing.T) {
	w := chattest.NewWorld(t)
	w.MustHear(t, "/new web ~/web --agent codex")
	assert.Equal(t, []string{w.Word(i18n.UnfitKey.Of("unknown"), i18n.Args{"Agent": "codex"})}, w.Telegram.Texts())
	assert.Empty(t, w.Lifecycle.Done())

	other := w.Hosted.Agents[agent.Default]
	other.Product, other.Reachable = "Codex", true
	w.Hosted.Agents["codex"] = other
	w.MustHear(t, "/new web ~/web --agent codex")
	r, ok := w.CurrentSession(chattest.AtAlice, 0)
	require.True(t, ok)
	assert.Equal(t, "codex", w.Record(t, r.ID).AgentName)
	assert.Equal(t, chattest.Lines(w.Word(i18n.Started, i18n.Args{"Name": "web", "Dir": "~/web"}), w.Word(i18n.AgentReachable, i18n.Args{"Agent": "Codex"})),
		w.Telegram.Last(t).Text.Text)
	w.MustHear(t, "/list")
	assert.Contains(t, w.Telegram.Last(t).Text.Text, "Codex")
}
