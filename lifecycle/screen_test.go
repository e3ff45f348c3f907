package lifecycle

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/presence"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/tmux"
	"ccbot/tmux/tmuxtest"
)

// seen starts a session, and returns its terminal's content after a while.
func (w *world) seen(m *menu) (session.Record, *agent, port.Screen) {
	w.t.Helper()
	r, a := w.started()
	if m != nil {
		a.asks(m)
		w.Wake(r.ID)
	}
	w.pass(time.Minute)
	now, err := w.Screen(w.ctx, r.ID, port.KeyOn{})
	require.NoError(w.t, err)
	return r, a, now
}

func TestKeysGoToShownScreen(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		m := askBash("touch x")
		m.page = true
		r, a, now := w.seen(m)
		assert.Contains(t, now.Text, "Do you want to proceed?")
		assert.True(t, now.Whole)
		for _, key := range []string{"down", "down", "up", "enter"} {
			after, err := w.Screen(w.ctx, r.ID, port.KeyOn{Key: key, Fingerprint: now.Fingerprint})
			require.NoError(t, err, key)
			if key != "enter" {
				assert.NotEqual(t, now.Fingerprint, after.Fingerprint, key)
			}
			now = after
			w.pass(2 * time.Second)
		}
		pressed, chosen := a.took(m)
		assert.Equal(t, []string{"down", "down", "up", "enter"}, pressed)
		assert.Equal(t, m.options[1:2], chosen)
		_, err := w.Screen(w.ctx, r.ID, port.KeyOn{Key: "C-d", Fingerprint: now.Fingerprint})
		require.Error(t, err)
	})
}

func TestKeyGoesIntoShownPromptBox(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a, _ := w.seen(nil)
		a.set(func(a *agent) { a.box = "a draft" })
		now, err := w.Screen(w.ctx, r.ID, port.KeyOn{})
		require.NoError(t, err)
		assert.Contains(t, now.Text, "a draft")
		_, err = w.Screen(w.ctx, r.ID, port.KeyOn{Key: "enter", Fingerprint: now.Fingerprint})
		require.NoError(t, err)
		assert.Equal(t, []string{"a draft"}, a.heard())
	})
}

// Nothing is pressed unless the screen is the one of the picture.
func TestP7_KeyGoesOnlyToPicturesScreen(t *testing.T) {
	tests := []struct {
		name string
		then func(w *world, r session.Record, a *agent)
		want error
	}{
		{"the box is back", func(_ *world, _ session.Record, a *agent) { a.set(func(a *agent) { a.close() }) }, ErrChanged},
		{"another command", func(_ *world, _ session.Record, a *agent) { a.asks(askBash("rm -rf /")) }, ErrChanged},
		{"the cursor was moved", func(_ *world, _ session.Record, a *agent) { a.set(func(a *agent) { a.menu.selected = 1 }) }, ErrChanged},
		{"something above it", func(_ *world, _ session.Record, a *agent) { a.set(func(a *agent) { a.menu.above = "  more" }) }, ErrChanged},
		{"a colour", func(_ *world, _ session.Record, a *agent) {
			a.set(func(a *agent) { a.menu.foot = "\x1b[7m" + a.menu.foot })
		}, ErrChanged},
		{"presence says that it was just answered", func(_ *world, _ session.Record, a *agent) {
			a.set(func(a *agent) { a.status, a.since = presence.Busy, time.Now() })
		}, ErrChanged},
		{"the agent has ended", func(w *world, _ session.Record, a *agent) { w.tmux.die(a, tmuxtest.Exit{}) }, view.ErrNoAgent},
		{"the session is archived", func(w *world, r session.Record, _ *agent) {
			require.NoError(w.t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"}))
		}, view.ErrNoAgent},
		{"nobody knows whether it lives", func(w *world, _ session.Record, _ *agent) {
			w.processes.set(func(ps *processes) {
				ps.liveness = func(process.Identity) process.Liveness { return process.Unknown }
			})
		}, view.ErrUnseen},
		{"the screen cannot be read", func(w *world, _ session.Record, _ *agent) { w.tmux.Fail("Capture", tmux.ErrLost) }, view.ErrUnseen},
		{"somebody scrolls", func(w *world, _ session.Record, a *agent) {
			w.tmux.Change(a.pane, func(p *tmux.Pane) { p.InMode = true })
		}, tmux.ErrGuard},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a, now := w.seen(askBash("touch x"))
				w.stop()
				tc.then(w, r, a)
				for key := range screenKeys {
					_, err := w.Screen(w.ctx, r.ID, port.KeyOn{Key: key, Fingerprint: now.Fingerprint})
					require.ErrorIs(t, err, tc.want, key)
					if errors.Is(tc.want, view.ErrUnseen) { // tmux's failures are reported once
						break
					}
				}
				a.set(func(a *agent) { assert.Zero(t, a.inputs) })
			})
		})
	}
}

// A permission request that the chat has is not answered in the terminal.
// Shift+Tab in the question about an edit allows all edits of the session.
func TestP7_RelayedRequestsScreenTakesNoEnter(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a, _ := w.seen(askBash("touch x"))
		w.relays.ask(r)
		now, err := w.Screen(w.ctx, r.ID, port.KeyOn{})
		require.NoError(t, err)
		for _, key := range []string{"enter", "space", "tab", "backtab"} {
			_, err = w.Screen(w.ctx, r.ID, port.KeyOn{Key: key, Fingerprint: now.Fingerprint})
			require.ErrorIs(t, err, ErrRelayed, key)
		}
		a.set(func(a *agent) { assert.Zero(t, a.inputs) })
	})
}

func TestScreenMark(t *testing.T) {
	const screen = "● done\n\n✶ Zesting… (5s · ↓ 119 tokens)\n\n────\n❯ \n────\n"
	fingerprint := func(text string) string { return fingerprintOf(session.Record{}, port.Screen{Text: text, Whole: true}) }
	same := fingerprint(screen)
	assert.Equal(t, same, fingerprint("  done\n\n\x1b[31m✢ Zesting… \x1b[1m(6s · ↓ 120 tokens)\x1b[0m\n────\n❯ \n────\n"), "the spinner turns, the sign blinks")
	for name, text := range map[string]string{
		"a letter": "● Done\n\n────\n❯ \n────\n", "a colour": "● \x1b[31mdone\x1b[0m\n\n────\n❯ \n────\n", "a row less": "● done\n────\n❯ \n",
		"a cursor on a blank row": screen + "\x1b[7m \x1b[0m\n",
	} {
		assert.NotEqual(t, same, fingerprint(text), name)
	}
	assert.NotEqual(t, same, fingerprintOf(session.Record{}, port.Screen{Text: screen}))
	assert.NotEqual(t, same, fingerprintOf(session.Record{Run: session.Run{Binding: &session.Binding{}}}, port.Screen{Text: screen, Whole: true}), "another agent")
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
