package lifecycle

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/presence"
	"ccbot/internal/session"
	"ccbot/lifecycle/dialog"
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
		{"the box is back", func(_ *world, _ session.Record, a *agent) { a.set(func(a *agent) { a.close() }) }, dialog.ErrChanged},
		{"another command", func(_ *world, _ session.Record, a *agent) { a.asks(askBash("rm -rf /")) }, dialog.ErrChanged},
		{"the cursor was moved", func(_ *world, _ session.Record, a *agent) { a.set(func(a *agent) { a.menu.selected = 1 }) }, dialog.ErrChanged},
		{"something above it", func(_ *world, _ session.Record, a *agent) { a.set(func(a *agent) { a.menu.above = "  more" }) }, dialog.ErrChanged},
		{"a colour", func(_ *world, _ session.Record, a *agent) {
			a.set(func(a *agent) { a.menu.foot = "\x1b[7m" + a.menu.foot })
		}, dialog.ErrChanged},
		{"presence says that it was just answered", func(_ *world, _ session.Record, a *agent) {
			a.set(func(a *agent) { a.status, a.since = presence.Busy, time.Now() })
		}, dialog.ErrChanged},
		{"the agent has ended", func(w *world, _ session.Record, a *agent) { w.tmux.die(a, tmuxtest.Exit{}) }, view.ErrNoAgent},
		{"the session is archived", func(w *world, r session.Record, _ *agent) {
			require.NoError(w.t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"}))
		}, view.ErrNoAgent},
		{"nobody knows whether it lives", func(w *world, _ session.Record, _ *agent) {
			w.processes.HideLiveness(true)
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
				for _, key := range append([]string{"backtab", "interrupt"}, dialogKeys...) {
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
			require.ErrorIs(t, err, dialog.ErrRelayed, key)
		}
		a.set(func(a *agent) { assert.Zero(t, a.inputs) })
	})
}
