package bot_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/turn"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/talk"
)

// lacking shows the sessions with agents that lack an ability.
type lacking struct {
	port.Views
	lose func(*port.Abilities)
}

func (l lacking) Get(id uuid.UUID) (port.Session, bool) {
	s, ok := l.Views.Get(id)
	l.lose(&s.Can)
	return s, ok
}

func (l lacking) List() []port.Session {
	all := l.Views.List()
	for i := range all {
		l.lose(&all[i].Can)
	}
	return all
}

// TestAbilities: without an ability no page has a button of it, and its commands are answered with
// a sentence. With it, nothing is refused.
func TestAbilities(t *testing.T) {
	modes, models := []string{"✓ Manual", "Accept edits", "Plan"}, []string{"✓ Opus", "Sonnet", "Haiku", "Fable"}
	switches := append(append([]string{"Mode"}, modes...), models...)
	for _, tt := range []struct {
		name    string
		lose    func(*port.Abilities)
		buttons []string // without it none of them is drawn
		says    map[string]i18n.Key
	}{
		{"modes", func(a *port.Abilities) { a.Modes = nil }, modes, nil},
		{"models", func(a *port.Abilities) { a.Models = nil }, models, map[string]i18n.Key{"/model": i18n.UnableModel, "//model opus": i18n.UnableModel, "/at 2h //model opus": i18n.UnableModel}},
		{"modes and models", func(a *port.Abilities) { a.Modes, a.Models = nil, nil }, switches, map[string]i18n.Key{"/mode": i18n.UnableMode}},
		{"compact", func(a *port.Abilities) { a.Compact = false }, []string{"Compact"}, map[string]i18n.Key{"/compact": i18n.UnableCompact, "//compact the tests": i18n.UnableCompact, "/every day 09:00 //compact": i18n.UnableCompact}},
		{"bash mode", func(a *port.Abilities) { a.Bash = false }, nil, map[string]i18n.Key{"!ls": i18n.UnableBash, "/at 2h !ls": i18n.UnableBash}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			drawn, all := abilityPages(t, tt.lose), abilityPages(t, func(*port.Abilities) {})
			for _, button := range tt.buttons {
				assert.NotContains(t, drawn, button)
				assert.Contains(t, all, button, "an agent with the ability has it")
			}
			assert.Len(t, drawn, len(all)-len(tt.buttons), "no other button is missing")
			for said, key := range tt.says {
				w := chattest.NewWorld(t)
				w.Machine.Records = lacking{w.Machine.Records, tt.lose}
				w.Again()
				w.NewCurrentSession(t, "api", session.Running)
				w.MustHear(t, said)
				w.Work(t)
				says := w.In(chattest.AtAlice).Text(key, i18n.Args{"Name": "api"}).Text
				has := func(m outbox.Message) bool { return strings.Contains(m.Text.Text, says) }
				assert.True(t, slices.ContainsFunc(w.Telegram.ShownOnce(), has), said)
				assert.Empty(t, w.Lifecycle.Done(), said)
				assert.Empty(t, w.ScheduleList(t), said)
			}
		})
	}
}

// abilityPages returns the buttons of the pages of a session that have any for an ability: /mode,
// and the card of a running turn with a full context.
func abilityPages(t *testing.T, lose func(*port.Abilities)) (buttons []string) {
	t.Helper()
	inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
		w.Machine.Records = lacking{w.Machine.Records, lose}
		w.Restart(t)
		w.Lifecycle.OnModes = port.ModeState{Mode: port.ModeManual, Model: "Opus 5.5"}
		w.Lifecycle.OnLook = view.Status{Usage: &port.Usage{Context: 90}}
		w.MustHear(t, "/mode")
		w.Work(t)
		for _, m := range w.Telegram.ShownOnce() {
			buttons = append(buttons, chattest.Words(m)...)
		}
		w.types("go")
		w.phase("working")
		card := w.Shows(t, w.cards()[0])
		require.True(t, w.Has(card, i18n.ButtonStop))
		buttons = append(buttons, chattest.Words(card)...)
	})
	return buttons
}

// A text that is for no session is refused when it is sent to one that cannot take it, also to one
// that must be resumed for it.
func TestAbilities_ChosenSession(t *testing.T) {
	for state, button := range map[session.State]i18n.Key{session.Running: i18n.ButtonSendTo, session.Completed: i18n.ButtonResumeSendTo} {
		w := chattest.NewWorld(t)
		w.Machine.Records = lacking{w.Machine.Records, func(a *port.Abilities) { a.Bash = false }}
		w.Again()
		r := w.Session(t, "api", state)
		w.MustHear(t, "!ls")
		w.Press(t, chattest.Alice, w.Telegram.LastID(), w.Named(button, "api"))
		w.Work(t)
		assert.Contains(t, strings.Join(w.Telegram.Texts(), "\n"), w.In(chattest.AtAlice).Text(i18n.UnableBash, i18n.Args{"Name": r.Name}).Text, state)
		assert.Empty(t, w.Lifecycle.Done(), state)
	}
}

// An edit cannot make a text that waits into one that its agent does not take.
func TestAbilities_EditedPrompt(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Machine.Records = lacking{w.Machine.Records, func(a *port.Abilities) { a.Compact = false }}
	w.Again()
	e := w.Prompt(t, w.NewCurrentSession(t, "api", session.Running), "/review", inbox.Held)
	require.NoError(t, w.Inbox.Change(e.Key, func(now *inbox.Entry) error { now.Class = talk.ClassCommand; return nil }))
	require.NoError(t, w.Edit(t, e.MessageID, "//compact"))
	assert.Equal(t, []string{"⚠ " + w.Word(i18n.EditIgnored)}, w.Telegram.Texts())
	assert.Empty(t, w.Lifecycle.Done())
	require.NoError(t, w.Edit(t, e.MessageID, "//init"))
	assert.Len(t, w.Lifecycle.Done(), 1)
}
