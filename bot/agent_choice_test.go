package bot_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/news"
)

// install makes agents of a world installed: Claude Code, and others by their names for people.
func install(t *testing.T, w *chattest.World, others ...string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	one := w.Hosted.Agents[agent.Default]
	one.Launch.Command = self
	w.Hosted.Agents[agent.Default] = one
	for _, product := range others {
		one.Product = product
		w.Hosted.Agents[strings.ToLower(product)] = one
	}
}

// TestNewShowsInstalledAgents shows a row of agents only if there is a choice. The choice is the
// chat's, counts for each new session, and survives a restart.
func TestNewShowsInstalledAgents(t *testing.T) {
	w := inFolders(t, "api", "web")
	install(t, w.World)
	w.open()
	assert.NotContains(t, w.buttons(), "✓ Claude Code")

	install(t, w.World, "Codex")
	w.open()
	assert.Subset(t, w.buttons(), []string{"✓ Claude Code", "Codex"})
	model := i18n.Args{"Model": w.say(i18n.NewAsSet)}
	w.press(w.say(i18n.ButtonNewModel, model)) // of Claude Code: it is no choice about another agent
	w.press("Codex")
	assert.Subset(t, w.buttons(), []string{"Claude Code", "✓ Codex", w.say(i18n.ButtonNewModel, model)})
	w.Restart(t)

	w.MustHear(t, "/new one ~/api")
	w.MustHear(t, "/new two ~/web --agent claude")
	require.Len(t, w.Lifecycle.Starts, 2)
	assert.Equal(t, []string{"codex", "claude"}, []string{w.Lifecycle.Starts[0].Agent, w.Lifecycle.Starts[1].Agent})
}

// TestNewStartsOnlyInstalledAgent starts Codex on a machine without Claude Code.
func TestNewStartsOnlyInstalledAgent(t *testing.T) {
	w := inFolders(t, "api")
	install(t, w.World, "Codex")
	missing := w.Hosted.Agents[agent.Default]
	missing.Launch.Command = "/nonexistent/claude"
	w.Hosted.Agents[agent.Default] = missing
	w.MustHear(t, "/new one ~/api")
	require.Len(t, w.Lifecycle.Starts, 1)
	assert.Equal(t, "codex", w.Lifecycle.Starts[0].Agent)
}

// TestNewIgnoresMissingAgent: a choice of an agent that was removed, or that another machine lacks,
// does not count.
func TestNewIgnoresMissingAgent(t *testing.T) {
	w := inFolders(t, "api")
	install(t, w.World)
	require.NoError(t, w.Book.Set(chattest.Alice, func(s *conversation.Settings) { s.Agent = "codex" }))
	w.MustHear(t, "/new one ~/api")
	require.Len(t, w.Lifecycle.Starts, 1)
	assert.Empty(t, w.Lifecycle.Starts[0].Agent)
}

// TestAgentsInOneFolderAreMentionedOnce names the agent of the other session, in one message.
func TestAgentsInOneFolderAreMentionedOnce(t *testing.T) {
	w := inFolders(t, "api")
	install(t, w.World, "Codex")
	w.MustHear(t, "/new one ~/api --agent codex")
	w.MustHear(t, "/new two ~/api")
	r, _ := w.CurrentSession(chattest.AtAlice, 0)
	require.NoError(t, w.SessionNews(t.Context(), w.Record(t, r.ID), news.Ready{}))
	mention := w.say(i18n.SharedFolder, i18n.Args{"Count": 1, "Names": "one · Codex"})
	assert.Equal(t, 1, strings.Count(strings.Join(w.Telegram.Texts(), "\n"), mention))
	assert.Equal(t, session.Starting, w.Record(t, r.ID).State)
}

// TestSettingsShowInstalledAgents: the page of the settings has the same choice as /new, and the
// settings of the chosen agent.
func TestSettingsShowInstalledAgents(t *testing.T) {
	w := chattest.NewWorld(t)
	install(t, w)
	opens := func() int { return opensSettings(t, w, chattest.PrivateChat(chattest.Alice), chattest.Alice) }
	assert.NotContains(t, buttons(t, w, opens()), w.Word(i18n.SettingAgent), "there is no choice")

	install(t, w, "Codex")
	codex := w.Hosted.Agents["codex"]
	codex.Abilities = port.Abilities{}
	w.Hosted.Agents["codex"] = codex
	id := opens()
	assert.Contains(t, buttons(t, w, id), w.Word(i18n.SettingMode))
	w.Press(t, chattest.Alice, id, w.Word(i18n.SettingAgent))
	w.Press(t, chattest.Alice, id, "Codex")
	assert.Equal(t, "codex", w.Book.Settings(chattest.Alice).Agent)
	assert.Contains(t, buttons(t, w, id), "✓ Codex")
	w.Press(t, chattest.Alice, id, w.Word(i18n.ButtonBack))
	assert.Contains(t, w.Shows(t, id).Text.Text, "Agent: Codex")
	assert.NotContains(t, buttons(t, w, id), w.Word(i18n.SettingMode), "Codex has none")

	require.NoError(t, w.Book.Set(chattest.Alice, func(s *conversation.Settings) { s.Agent = agent.Default })) // as /new does
	id = opens()
	assert.Contains(t, w.Shows(t, id).Text.Text, "Agent: Claude Code")
	w.Press(t, chattest.Alice, id, w.Word(i18n.SettingAgent))
	assert.Contains(t, strings.Join(buttons(t, w, id), "\n"), "✓ Claude Code")
}
