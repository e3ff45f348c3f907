package dialog

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	coding "ccbot/agent"
	"ccbot/agent/claude/claudeui"
	"ccbot/agent/claude/presence"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port"
	"ccbot/port/talk"
	"ccbot/tmux"
)

// in returns a record whose agent asks for permissions in the chat.
func in(state session.State) session.Record {
	return session.Record{State: state, Run: session.Run{StartedAt: viewtest.Noon.Add(-time.Minute), Binding: &session.Binding{Command: "claude"}},
		Launch: &session.Launch{PermissionMode: coding.ModeAsk}}
}

// A view without a reading of the presence file proves nothing, even if a dialog is open.
func TestP6_UnknownStateTakesNoKey(t *testing.T) {
	v := view.View{Now: viewtest.Noon, Agent: process.Alive, Fate: view.PaneOurs, Captured: true}
	assert.ErrorIs(t, mayPress(v, port.Dialog{Open: true, Whole: true}, typing.KeyEnter), view.ErrUnseen)
}

// The rule for a key, near every view that can be.
func TestP7_EnterNeedsAnOpenDialog(t *testing.T) {
	pressed, refused := 0, map[error]bool{}
	check := func(t interface{ Fatalf(string, ...any) }, r session.Record, v view.View, k tmux.Key) {
		err := mayPress(v, view.DialogOf(r, v), k)
		if err != nil {
			refused[err] = true
			return
		}
		pressed++
		waits := v.State.Phase.Waiting()
		fresh := v.State.Known == view.StateWritten && !waits && v.Now.Sub(v.State.Since) < view.Drawn
		switch {
		case v.Screen.Box.Present && v.Screen.Dialog == nil && k != tmux.KeyEscape:
			t.Fatalf("%s into a box: %+v", k, v)
		case v.Screen.Dialog == nil && !waits && !view.DialogOf(r, v).Open:
			t.Fatalf("key %s without a dialog: %+v", k, v)
		case v.Relayed && (k == typing.KeyEnter || k == tmux.KeySpace || k == tmux.KeyTab):
			t.Fatalf("key %s while a request waits: %+v", k, v)
		case fresh, !v.Captured, v.State.Known == view.StateUnknown:
			t.Fatalf("key %s on %+v", k, v)
		}
	}
	relayed := func(v *view.View) { v.Relayed = true }
	young := func(v *view.View) { v.State.Since = viewtest.Noon.Add(-view.Drawn / 2) }
	all := append([]func(*view.View){relayed, young}, viewtest.Changes...)
	for _, state := range []session.State{session.Starting, session.Running} {
		r := in(state)
		for _, k := range dialogKeys {
			for _, one := range all {
				for _, two := range all {
					check(t, r, viewtest.AsSeen(viewtest.Free(one, two)), k)
				}
			}
		}
	}
	require.Positive(t, pressed)
	for _, want := range []error{ErrNoDialog, ErrRelayed, ErrChanged, view.ErrUnseen} {
		assert.True(t, refused[want], want.Error())
	}
	rapid.Check(t, func(t *rapid.T) {
		v := viewtest.AnyView(t)
		v.Relayed = rapid.Bool().Draw(t, "relayed")
		check(t, in(rapid.SampledFrom(session.States()).Draw(t, "state")), v, rapid.SampledFrom([]tmux.Key{typing.KeyEnter, tmux.KeySpace, tmux.KeyUp, tmux.KeyEscape}).Draw(t, "key"))
	})
}

// TestP7_PartialDialogTakesNoEnter: rows may leave the screen between the message and the tap. In
// screen reader mode such a row may have been the dialog's real beginning.
func TestP7_PartialDialogTakesNoEnter(t *testing.T) {
	const flat = "claude: Running Bash.\nPermission Required: Bash command\n> touch x\n1. Yes\n2. No\n" +
		"Select with numbers [1-2]. Then Enter to submit or Escape to cancel: \n"
	fromTop := coding.Screen{Text: "Trust it?\n› 1. Yes\n  2. No", Dialog: &coding.Dialog{Title: "Trust it?", Lines: []string{"Trust it?", "› 1. Yes", "  2. No"},
		Options: []string{"Yes", "No"}, Whole: true, FromTop: true}}
	for _, screen := range []coding.Screen{claudeui.Read("Press any key"), claudeui.Read(flat), fromTop} {
		takesNoEnterOncePartial(t, screen)
	}
}

func takesNoEnterOncePartial(t *testing.T, s coding.Screen) {
	t.Helper()
	v := view.View{Agent: process.Alive, Fate: view.PaneOurs, Captured: true, Reader: claudeui.Reader{}, Screen: s,
		State: view.AgentState{Known: view.StateWritten, Phase: talk.PhaseWaitingPermission}}
	r := session.Record{State: session.Running}
	whole := view.DialogOf(r, v)
	require.NoError(t, mayPress(v, whole, typing.KeyEnter))
	v.Pane.Scrolled = 1
	cut := view.DialogOf(r, v)
	assert.NotEqual(t, whole.Fingerprint, cut.Fingerprint)
	for _, k := range []tmux.Key{typing.KeyEnter, tmux.KeySpace, tmux.KeyTab} {
		require.ErrorIs(t, mayPress(v, cut, k), ErrChanged)
	}
	for _, k := range []tmux.Key{tmux.KeyEscape, tmux.KeyUp} {
		require.NoError(t, mayPress(v, cut, k))
	}
}

func TestScreenMark(t *testing.T) {
	const screen = "● done\n\n✶ Zesting… (5s · ↓ 119 tokens)\n\n────\n❯ \n────\n"
	fingerprint := func(text string) string {
		return fingerprintOf(claudeui.Reader{}, session.Record{}, port.Screen{Text: text, Whole: true})
	}
	same := fingerprint(screen)
	assert.Equal(t, same, fingerprint("  done\n\n\x1b[31m✢ Zesting… \x1b[1m(6s · ↓ 120 tokens)\x1b[0m\n────\n❯ \n────\n"), "the spinner turns, the sign blinks")
	for name, text := range map[string]string{
		"a letter": "● Done\n\n────\n❯ \n────\n", "a colour": "● \x1b[31mdone\x1b[0m\n\n────\n❯ \n────\n", "a row less": "● done\n────\n❯ \n",
		"a cursor on a blank row": screen + "\x1b[7m \x1b[0m\n",
	} {
		assert.NotEqual(t, same, fingerprint(text), name)
	}
	assert.NotEqual(t, same, fingerprintOf(claudeui.Reader{}, session.Record{}, port.Screen{Text: screen}))
	assert.NotEqual(t, same, fingerprintOf(claudeui.Reader{}, session.Record{Run: session.Run{Binding: &session.Binding{}}}, port.Screen{Text: screen, Whole: true}), "another agent")
}

func TestMayPressOn(t *testing.T) {
	now := time.Now()
	unwritten := view.AgentState{Known: view.StateUnwritten}
	seen := view.View{Now: now, State: unwritten}
	said := func(status presence.Status, ago time.Duration) view.View {
		return view.View{Now: now, State: view.StateOf(process.Identity{}, presence.File{Status: status, UpdatedAt: now.Add(-ago)}, nil)}
	}
	relayed := view.View{Now: now, Relayed: true, State: unwritten}
	for _, tt := range []struct {
		name string
		view view.View
		now  port.Screen
		key  tmux.Key
		want error
	}{
		{"the screen of the picture", seen, port.Screen{Fingerprint: "m", Whole: true}, typing.KeyEnter, nil},
		{"another one", seen, port.Screen{Fingerprint: "n", Whole: true}, tmux.KeyUp, ErrChanged},
		{"a part is out of sight", seen, port.Screen{Fingerprint: "m"}, typing.KeyEnter, ErrChanged},
		{"a part is out of sight, and Tab may choose", seen, port.Screen{Fingerprint: "m"}, tmux.KeyTab, ErrChanged},
		{"a part is out of sight, and one looks around", seen, port.Screen{Fingerprint: "m"}, tmux.KeyDown, nil},
		{"the chat has the request", relayed, port.Screen{Fingerprint: "m", Whole: true}, typing.KeyEnter, ErrRelayed},
		{"the chat has the request, and one looks around", relayed, port.Screen{Fingerprint: "m", Whole: true}, tmux.KeyUp, nil},
		{"the agent says nothing that is understood", said("", time.Hour), port.Screen{Fingerprint: "m", Whole: true}, tmux.KeyUp, view.ErrUnseen},
		{"the agent has just begun something else", said(presence.Busy, view.Drawn/2), port.Screen{Fingerprint: "m", Whole: true}, tmux.KeyInterrupt, ErrChanged},
		{"the clock was set back since", said(presence.Busy, -time.Hour), port.Screen{Fingerprint: "m", Whole: true}, tmux.KeyInterrupt, nil},
		{"the agent works", said(presence.Busy, view.Drawn), port.Screen{Fingerprint: "m", Whole: true}, tmux.KeyInterrupt, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, mayPressOn(tt.view, tt.now, "m", tt.key))
		})
	}
}

// TestP7_EnterInAnOpenedList: a list that is cut, or has two cursors, takes Enter only if the agent itself says that a person has opened
// it, and never if it may be about what the agent may do.
func TestP7_EnterInAnOpenedList(t *testing.T) {
	memory, err := os.ReadFile("../../agent/claude/claudeui/testdata/memory.ansi")
	require.NoError(t, err)
	trust, err := os.ReadFile("../../agent/claude/claudeui/testdata/dlg-1.ansi")
	require.NoError(t, err)
	list, cutTrust := claudeui.Read(string(memory)), claudeui.Read(string(trust))
	require.NotNil(t, cutTrust.Dialog)
	cutTrust.Dialog.Whole = false
	question := claudeui.Read(string(memory))
	question.Dialog.Question = true
	asks := func(title string) coding.Screen {
		return claudeui.Read(strings.Repeat("▔", 60) + "\n  " + title + "\n\n    ↑ 3 more\n  ❯ one\n    two\n\n  Enter to select · Esc to cancel\n")
	}
	unwritten := func(v *view.View) { v.State = view.AgentState{Known: view.StateUnwritten} }
	for _, tt := range []struct {
		name   string
		screen coding.Screen
		change func(*view.View)
		enters bool
	}{
		{"a person has opened it", list, viewtest.WaitsFor("dialog open"), true},
		{"a permission", list, viewtest.WaitsFor("permission prompt"), false},
		{"a question", list, viewtest.WaitsFor("input needed"), false},
		{"another word", list, viewtest.WaitsFor("something else"), false},
		{"no word", list, viewtest.WaitsFor(""), false},
		{"it says that it is idle", list, viewtest.Status(presence.Idle), false},
		{"it has written no file", list, unwritten, false},
		{"its file cannot be read", list, func(v *view.View) { v.State = view.AgentState{} }, false},
		{"it asks for trust", cutTrust, viewtest.WaitsFor("dialog open"), false},
		{"a list that is cut", asks("Rewind"), viewtest.WaitsFor("dialog open"), true},
		{"it asks for the bypass of permissions", asks("WARNING: Claude Code running in Bypass Permissions mode"), viewtest.WaitsFor("dialog open"), false},
		{"it asks about managed settings", asks("Managed settings need your review before they apply"), viewtest.WaitsFor("dialog open"), false},
		{"it asks about credits", asks("Use usage credits?"), viewtest.WaitsFor("dialog open"), false},
		{"it looks like a question", question, viewtest.WaitsFor("dialog open"), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := viewtest.Free(tt.change)
			v.Screen, v.Now = tt.screen, viewtest.Noon.Add(time.Hour)
			r := in(session.Running)
			d := view.DialogOf(r, v)
			require.False(t, d.Whole)
			assert.Equal(t, tt.enters, mayPress(v, d, typing.KeyEnter) == nil)
			for _, k := range []tmux.Key{tmux.KeySpace, tmux.KeyTab} {
				require.Error(t, mayPress(v, d, k))
			}
		})
	}
}

// TestP7_SuspendedTakesNoEnter: an agent that is suspended reads no keys, and gets those that were pressed when it goes on.
func TestP7_SuspendedTakesNoEnter(t *testing.T) {
	screen, err := os.ReadFile("../../agent/claude/claudeui/testdata/suspended.ansi")
	require.NoError(t, err)
	v := viewtest.Free()
	v.Screen, v.Now = claudeui.Read(string(screen)), viewtest.Noon.Add(time.Hour)
	d := view.DialogOf(in(session.Running), v)
	assert.True(t, d.Open && d.Suspends)
	assert.False(t, v.TypeSafe())
	require.ErrorIs(t, mayPress(v, d, typing.KeyEnter), ErrChanged)
}
