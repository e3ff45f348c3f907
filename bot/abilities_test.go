package bot_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/machine"
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

func (l lacking) List() ([]port.Session, error) {
	all, err := l.Views.List()
	for i := range all {
		l.lose(&all[i].Can)
	}
	return all, err
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
		{"commands", func(a *port.Abilities) { a.Prose = true }, nil, map[string]i18n.Key{"//clear": i18n.UnableCommand, "/init": i18n.UnableCommand,
			"//new\nand more": i18n.UnableCommand, "/at 2h //clear": i18n.UnableCommand}},
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

// An agent without commands in the chat gets a path, which is none, and a command that a person has
// mistyped is asked about first.
func TestAbilities_ProseIsSent(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Machine.Records = lacking{w.Machine.Records, func(a *port.Abilities) { a.Prose = true }}
	w.Again()
	w.NewCurrentSession(t, "api", session.Running)
	assert.Equal(t, inbox.Held, w.EntryState(w.MustHear(t, "/etc/hosts has a wrong line")))
	assert.Equal(t, inbox.Held, w.EntryState(w.MustHear(t, "what does /clear do?")))
	assert.Equal(t, inbox.Held, w.EntryState(w.MustHear(t, "//compact")), "the one command that its server has a call for")
	key := w.MustHear(t, "/lst")
	w.Work(t)
	assert.Equal(t, inbox.Asked, w.EntryState(key))
	assert.True(t, slices.ContainsFunc(chattest.Words(w.Shows(t, w.Telegram.LastID())), func(word string) bool { return strings.Contains(word, "/list") }))
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
// that must be resumed for it. It stays under its question, for another session.
func TestAbilities_ChosenSession(t *testing.T) {
	for state, button := range map[session.State]i18n.Key{session.Running: i18n.ButtonSendTo, session.Completed: i18n.ButtonResumeSendTo} {
		w := chattest.NewWorld(t)
		w.Machine.Records = lacking{w.Machine.Records, func(a *port.Abilities) { a.Bash = false }}
		w.Again()
		r := w.Session(t, "api", state)
		key := w.MustHear(t, "!ls")
		question := w.Telegram.LastID()
		asked := w.Shows(t, question)
		w.Press(t, chattest.Alice, question, w.Named(button, "api"))
		w.Work(t)
		assert.Contains(t, strings.Join(w.Telegram.Texts(), "\n"), w.In(chattest.AtAlice).Text(i18n.UnableBash, i18n.Args{"Name": r.Name}).Text, state)
		assert.Empty(t, w.Lifecycle.Done(), state)
		assert.Equal(t, inbox.Asked, w.EntryState(key), state)
		assert.Equal(t, chattest.Words(asked), chattest.Words(w.Shows(t, question)), state)
		w.Press(t, chattest.Alice, question, w.Word(i18n.ButtonDrop))
		w.Work(t)
		assert.Empty(t, w.EntryState(key), state)
	}
}

// One text of a shared question that the session cannot take does not hold up the others.
func TestAbilities_OneOfSeveralTexts(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Machine.Records = lacking{w.Machine.Records, func(a *port.Abilities) { a.Bash = false }}
	w.Again()
	r := w.Session(t, "api", session.Completed)
	var keys []string
	for _, text := range []string{"!ls", "one", "!pwd", "two"} {
		keys = append(keys, w.MustHear(t, text))
	}
	question := w.Telegram.LastID()
	w.Press(t, chattest.Alice, question, w.Named(i18n.ButtonResumeSendTo, "api"))
	w.Work(t)
	for i, want := range []inbox.State{inbox.Asked, inbox.Held, inbox.Asked, inbox.Held} {
		assert.Equal(t, want, w.EntryState(keys[i]), i)
	}
	assert.Contains(t, w.Lifecycle.Done(), "restore "+r.ID.String())
	shown := w.Shows(t, question).Text.Text
	assert.Contains(t, shown, "1. !ls\n2. !pwd")
	assert.NotContains(t, shown, ". one")
}

// A text that was sent before a session began stays under its question if the session's agent does
// not take it.
func TestAbilities_FirstPrompt(t *testing.T) {
	w := inFolders(t, "api")
	loses(t, w.World, func(a *port.Abilities) { a.Bash = false })
	w.Lifecycle.OnStart = func(port.Start) (session.Record, error) { return w.Session(t, "new", session.Running), nil }
	w.Session(t, "api", session.Archived)
	w.open()
	key := w.MustHear(t, "!ls")
	w.Work(t)
	w.press("~/api", w.say(i18n.ButtonStartFresh))
	assert.Contains(t, strings.Join(w.Telegram.Texts(), "\n"), w.In(chattest.AtAlice).Text(i18n.UnableBash, i18n.Args{"Name": "new"}).Text)
	assert.Equal(t, inbox.Asked, w.EntryState(key))
	assert.NotContains(t, w.Lifecycle.Done(), "queue")
}

// lackingAgent is the agent of new sessions that lacks an ability.
type lackingAgent struct {
	machine.Sessions
	lose func(*port.Abilities)
}

func (l lackingAgent) Abilities(ctx context.Context, dir, name string) (port.Abilities, error) {
	can, err := l.Sessions.Abilities(ctx, dir, name)
	l.lose(&can)
	return can, err
}

func (l lackingAgent) Start(ctx context.Context, q port.Start) (port.Session, error) {
	s, err := l.Sessions.Start(ctx, q)
	l.lose(&s.Can)
	return s, err
}

// loses makes the agent of new sessions one that lacks an ability.
func loses(t *testing.T, w *chattest.World, lose func(*port.Abilities)) {
	t.Helper()
	w.Machine.Sessions = lackingAgent{w.Machine.Sessions, lose}
	w.Again()
}

// The pages of new sessions and of the settings have no choice that the agent of a new session
// lacks, and a choice that a chat made earlier is not passed on.
func TestAbilities_NewSession(t *testing.T) {
	for _, tt := range []struct {
		name        string
		lose        func(*port.Abilities)
		mode, model bool
	}{
		{"all abilities", func(*port.Abilities) {}, true, true},
		{"no modes", func(a *port.Abilities) { a.Modes = nil }, false, true},
		{"no models", func(a *port.Abilities) { a.Models = nil }, true, false},
		{"neither", func(a *port.Abilities) { a.Modes, a.Models = nil, nil }, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := inFolders(t, "api")
			loses(t, w.World, tt.lose)
			require.NoError(t, w.Book.Set(chattest.Alice, func(s *conversation.Settings) { s.Mode, s.Model = "plan", "opus" }))
			w.Session(t, "api", session.Archived)
			has := func(key i18n.Key, args ...i18n.Args) bool { return slices.Contains(w.buttons(), w.say(key, args...)) }
			w.open()
			checkChoices := func() {
				assert.Equal(t, tt.mode, has(i18n.ButtonNewMode, i18n.Args{"Mode": w.say(i18n.NewAsSet)}))
				assert.Equal(t, tt.model, has(i18n.ButtonNewModel, i18n.Args{"Model": w.say(i18n.NewAsSet)}))
			}
			checkChoices()
			w.press("~/api")
			checkChoices()

			w.MustHear(t, "/settings")
			w.Work(t)
			w.page = w.Telegram.LastID()
			assert.Equal(t, []bool{tt.mode, tt.model}, []bool{has(i18n.SettingMode), has(i18n.SettingModel)})
			assert.Equal(t, []bool{tt.mode, tt.model},
				[]bool{strings.Contains(w.text(), w.say(i18n.SettingMode)), strings.Contains(w.text(), w.say(i18n.SettingModel))})
			for name, can := range map[string]bool{"mode": tt.mode, "model": tt.model} {
				answer, _, err := w.Pages.All["settings"].Do(t.Context(), chat.Visit{To: chattest.AtAlice, By: chattest.Alice, Rest: name}, "")
				require.NoError(t, err)
				assert.Equal(t, can, answer.Text == "", "a button of an earlier page: %s", name)
			}

			require.NoError(t, w.Book.Set(chattest.Alice, func(s *conversation.Settings) { s.Mode, s.Model = "plan", "opus" }))
			w.MustHear(t, "/new one ~/api")
			require.Len(t, w.Lifecycle.Starts, 1)
			var want port.ModeChange
			if tt.mode {
				want.Mode = port.ModePlan
			}
			if tt.model {
				want.Model = "Opus"
			}
			assert.Equal(t, want, w.Lifecycle.Starts[0].With)
		})
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
