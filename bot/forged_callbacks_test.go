package bot_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/evidence"
)

// madeUp are data that no button of a message has, made from those that it has: another revision,
// an option that is not there, another card, and none.
func madeUp(m outbox.Message) (all []string) {
	for _, d := range chattest.Data(m) {
		parts := strings.Split(d, ":")
		for _, one := range [][]string{
			{parts[0], strings.Repeat("A", len(parts[1])), parts[2]},
			{parts[0], parts[1], "99"},
			{parts[0], parts[1], "-1"},
			{strings.Repeat("A", len(parts[0])), parts[1], parts[2]},
			{parts[0], parts[1]},
		} {
			all = append(all, strings.Join(one, ":"))
		}
	}
	return all
}

// TestP2_ForgedOptionOrRevisionDoesNothing, even where a message has a button with such data.
func TestP2_ForgedOptionOrRevisionDoesNothing(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	over := w.Session(t, "over", session.Archived)
	all := []outbox.Message{w.ReceiptShown(t, over), w.HeardShown(t, "/resume"), w.HeardShown(t, "/kill api")}
	w.Write(chattest.InWindow(t, 1))
	all = append(all, w.EndedWriterShown(t, over, chattest.InWindow(t, 1)),
		w.Shown(t, r, lifecycle.OtherWriters{chattest.InWindow(t, 1)}))
	all = append(all, w.TakeOver(t, all[4], i18n.ButtonTakeOver))
	all = append(all, w.Unbound(t, chattest.AgentWindow(t, "@21", 4123)))
	require.NoError(t, w.TapShown(t, chattest.Alice, all[6], i18n.ButtonArchive))
	all = append(all, w.Telegram.Last(t))
	w.Lost(t, "lost", session.ClosedReboot)
	all = append(all, w.RecoveredMessage(t))
	before := w.State(t)
	for _, m := range all {
		require.NotEmpty(t, chattest.Data(m), m.Text.Text)
		for _, bad := range madeUp(m) {
			require.NoError(t, w.TapButton(t, chattest.Alice, bad))
			w.Unchanged(t, before)
			assert.Contains(t, w.Telegram.Done(), "answer query: "+w.Word(i18n.StaleButton))
		}
	}
}

// An action that the window's message did not offer cannot be done by a tap.
func TestForgedWindowButtonDoesNothing(t *testing.T) {
	protected := chattest.AgentWindow(t, "@21", 4123)
	protected.Agent.Spared = process.GuardAncestor
	for _, window := range []evidence.Window{chattest.ShellWindow(t, "@21"), protected} {
		w := chattest.NewWorld(t)
		m := w.Unbound(t, window)
		for _, option := range []string{"1", "2", "3"} {
			require.NoError(t, w.TapButton(t, chattest.Alice, strings.TrimSuffix(chattest.Data(m)[0], "0")+option))
		}
		assert.Empty(t, w.Lifecycle.Done())
		assert.Len(t, w.Windows.All, 1)
	}
}

// TestP2_OptionOfChangedMessageIsStale: the person may not have seen that yet.
func TestP2_OptionOfChangedMessageIsStale(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "api", session.Running)
	web := w.Session(t, "web", session.Running)
	w.MustHear(t, "/list")
	m := w.Telegram.Last(t)
	require.NoError(t, w.TapShown(t, chattest.Alice, m, "web"))
	w.Lifecycle.Forget()
	w.CurrentIs(t, web.ID)
	require.NoError(t, w.TapShown(t, chattest.Alice, m, "✓ api"))
	w.CurrentIs(t, web.ID)
	assert.Contains(t, w.Telegram.Done(), "answer query: "+w.Word(i18n.StaleButton))
	require.NoError(t, w.TapShown(t, chattest.Alice, w.Telegram.LastEdit(t), "api"))
	w.CurrentIs(t, w.Records.List()[0].ID)
}
