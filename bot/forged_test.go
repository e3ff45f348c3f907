package bot

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// This file knows how the data of a button is written: it taps made-up buttons, and has the helpers
// of those tests that still write such data.

// madeUp are data that no button of a message has, made from those that it has: another revision,
// an option that is not there, another card, and none.
func madeUp(m outbox.Message) (all []string) {
	for _, d := range data(m) {
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

// TestP2_AMadeUpOptionOrRevisionDoesNothing, even where a message has a button with such data.
func TestP2_AMadeUpOptionOrRevisionDoesNothing(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Running)
	over := w.session(t, "over", session.Archived)
	all := []outbox.Message{w.receiptShown(t, over), w.heardShown(t, "/resume"), w.heardShown(t, "/kill api")}
	w.write(inWindow(t, 1))
	all = append(all, w.ghostShown(t, over, inWindow(t, 1)),
		w.shown(t, lifecycle.Note{Kind: lifecycle.NoteSecondWriter, Session: r, Writers: []lifecycle.Writer{inWindow(t, 1)}}))
	all = append(all, w.takeOver(t, all[4], i18n.ButtonTakeOver))
	all = append(all, w.unbound(t, agentWindow(t, "@21", 4123)))
	require.NoError(t, w.tapShown(t, alice, all[6], i18n.ButtonArchive))
	all = append(all, w.sender.last(t))
	w.lost(t, "lost", session.ClosedReboot)
	all = append(all, w.recoveredMessage(t))
	for _, m := range all {
		require.NotEmpty(t, data(m), m.Text.Text)
		for _, bad := range madeUp(m) {
			before := w.state(t)
			require.NoError(t, w.tap(t, alice, bad))
			w.unchanged(t, before)
			assert.Contains(t, w.sender.done(), "answer query: "+w.word(i18n.StaleButton))
		}
	}
}

// What could not be done about a window when it was shown cannot be done by a tap.
func TestAMadeUpButtonOfAWindowDoesNothing(t *testing.T) {
	protected := agentWindow(t, "@21", 4123)
	protected.Agent.Spared = process.GuardAncestor
	for _, window := range []lifecycle.Window{shellWindow(t, "@21"), protected} {
		w := newWorld(t)
		m := w.unbound(t, window)
		for _, option := range []string{"1", "2", "3"} {
			require.NoError(t, w.tap(t, alice, strings.TrimSuffix(data(m)[0], "0")+option))
		}
		assert.Empty(t, w.sessions.done())
		assert.Len(t, w.windows.all, 1)
	}
}

// TestP2_AnOptionIsStaleOnceItsMessageShowsSomethingElse: the person may not have seen that yet.
func TestP2_AnOptionIsStaleOnceItsMessageShowsSomethingElse(t *testing.T) {
	w := newWorld(t)
	w.currentSession(t, "api", session.Running)
	web := w.session(t, "web", session.Running)
	w.mustHear(t, "/list")
	m := w.sender.last(t)
	require.NoError(t, w.tapShown(t, alice, m, "web"))
	w.sessions.forget()
	w.currentIs(t, web.ID)
	require.NoError(t, w.tapShown(t, alice, m, "✓ api"))
	w.currentIs(t, web.ID)
	assert.Contains(t, w.sender.done(), "answer query: "+w.word(i18n.StaleButton))
	require.NoError(t, w.tapShown(t, alice, w.sender.lastEdit(t), "api"))
	w.currentIs(t, w.records.List()[0].ID)
}
