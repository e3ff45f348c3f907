package lifecycle

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	coding "ccbot/agent"
	"ccbot/agent/claude/claudeui"
	"ccbot/agent/claude/presence"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/dialog"
	"ccbot/lifecycle/view"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/tmux"
	"ccbot/tmux/tmuxtest"
)

// dialogKeys are the names of all keys that Press takes.
var dialogKeys = []string{"up", "down", "left", "right", "space", "tab", "esc", "enter"}

// asked starts a session whose terminal asks something for a while.
func (w *world) asked(m *menu) (session.Record, *agent, port.Dialog) {
	w.t.Helper()
	r, a := w.started()
	a.asks(m)
	w.Wake(r.ID)
	w.pass(time.Minute)
	d, err := w.Dialog(w.ctx, r.ID)
	require.NoError(w.t, err)
	require.True(w.t, d.Open)
	return r, a, d
}

func TestChooseGoesToTheOption(t *testing.T) {
	tests := []struct {
		name           string
		from, to       int
		ignores        int
		pressed        []string
		drawnElsewhere bool
	}{
		{"the selected one", 0, 0, 0, []string{"enter"}, false},
		{"down", 0, 2, 0, []string{"down", "down", "enter"}, false},
		{"up", 3, 1, 0, []string{"up", "up", "enter"}, false},
		{"the last one", 0, 3, 0, []string{"down", "down", "down", "enter"}, false},
		{"a dialog that was drawn a moment ago takes no key", 0, 1, 2, []string{"down", "down", "down", "enter"}, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				m := askBash("touch x")
				m.selected, m.ignores = tc.from, tc.ignores
				r, a, d := w.asked(m)
				require.Equal(t, m.options, d.Options)
				after, err := w.Choose(w.ctx, r.ID, d.Fingerprint, tc.to)
				require.NoError(t, err)
				pressed, chosen := a.took(m)
				assert.Equal(t, tc.pressed, pressed)
				assert.Equal(t, []string{m.options[tc.to]}, chosen)
				assert.False(t, after.Open)
			})
		})
	}
}

// What follows is shown by the same tap.
func TestChooseShowsTheNextPage(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		next := &menu{head: []string{" Review your answers"}, options: []string{"Submit answers", "Cancel"}, foot: " Esc to cancel"}
		m := askBash("touch x")
		m.onTaken = func(a *agent) { a.menu, a.status = next, presence.Waiting }
		r, _, d := w.asked(m)
		after, err := w.Choose(w.ctx, r.ID, d.Fingerprint, 0)
		require.NoError(t, err)
		assert.True(t, after.Open)
		assert.Equal(t, next.options, after.Options)
		assert.NotEqual(t, d.Fingerprint, after.Fingerprint)
	})
}

// A person in the terminal moves the cursor while we do.
func TestChooseFollowsPersonsCursor(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		m := askBash("touch x")
		moves := 0
		m.onKey = func(m *menu, key string) {
			if moves++; moves <= 2 && key == "down" {
				m.selected = 0
			}
		}
		r, a, d := w.asked(m)
		_, err := w.Choose(w.ctx, r.ID, d.Fingerprint, 2)
		require.NoError(t, err)
		_, chosen := a.took(m)
		assert.Equal(t, []string{m.options[2]}, chosen)
	})
}

func TestP7_ChooseYieldsToPerson(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		m := askBash("touch x")
		m.onKey = func(m *menu, _ string) { m.selected = 3 - m.selected } // never where it should be
		r, a, d := w.asked(m)
		_, err := w.Choose(w.ctx, r.ID, d.Fingerprint, 1)
		require.ErrorIs(t, err, dialog.ErrChanged)
		pressed, chosen := a.took(m)
		assert.LessOrEqual(t, len(pressed), 3*len(m.options)+1)
		assert.NotContains(t, pressed, "enter")
		assert.Empty(t, chosen)
	})
}

func TestP7_DialogIgnoringKeysGetsNoEnter(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		m := askBash("touch x")
		m.ignores = 1000
		r, a, d := w.asked(m)
		again, err := w.Choose(w.ctx, r.ID, d.Fingerprint, 1)
		require.ErrorIs(t, err, dialog.ErrChanged)
		assert.Equal(t, d.Fingerprint, again.Fingerprint)
		pressed, _ := a.took(m)
		assert.Equal(t, []string{"down", "down", "down"}, pressed)
	})
}

// A late arrow must not lead the following Enter to another option.
func TestP7_LateArrowMisleadsNoEnter(t *testing.T) {
	tests := []struct {
		name string
		slow map[int]time.Duration // of the first, the second … key
	}{
		{"the first is given up, and is taken when the second is sent", map[int]time.Duration{1: dialog.KeyWait + 300*time.Millisecond, 2: 700 * time.Millisecond}},
		{"each takes a while", map[int]time.Duration{1: 600 * time.Millisecond, 2: 600 * time.Millisecond, 3: 600 * time.Millisecond}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				m := askBash("touch x")
				r, a, d := w.asked(m)
				m.slow = func(n int) time.Duration { return tc.slow[n] }
				_, err := w.Choose(w.ctx, r.ID, d.Fingerprint, 1)
				require.NoError(t, err)
				_, chosen := a.took(m)
				assert.Equal(t, []string{m.options[1]}, chosen)
			})
		})
	}
}

// A person who moves the cursor right after it has come to the option.
func TestP7_PersonMovesCursorBeforeEnter(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		m := askBash("touch x")
		r, a, d := w.asked(m)
		m.onKey = func(m *menu, _ string) {
			if len(m.pressed) == 1 {
				time.AfterFunc(dialog.SettleTime/2, func() { a.set(func(*agent) { m.selected = 3 }) })
			}
		}
		_, err := w.Choose(w.ctx, r.ID, d.Fingerprint, 1)
		require.NoError(t, err)
		pressed, chosen := a.took(m)
		assert.Equal(t, []string{m.options[1]}, chosen)
		assert.Equal(t, []string{"down", "up", "up", "enter"}, pressed)
	})
}

// A question of the start is drawn again after the cursor has moved.
func TestP7_RedrawnStartResetsCursor(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		m := &menu{head: []string{" Accessing workspace:"}, options: []string{"No, exit", "Yes, I trust this folder"}, foot: " Enter to confirm · Esc to cancel"}
		m.onTaken = func(a *agent) { a.silent = false }
		w.tmux.onLaunch = func(a *agent, _ *tmuxtest.Process) { a.menu, a.silent = m, true }
		r, a := w.starting()
		w.pass(time.Minute)
		d, err := w.Dialog(w.ctx, r.ID)
		require.NoError(t, err)
		m.slow = func(int) time.Duration { return 2 * dialog.SettleTime }
		m.onKey = func(m *menu, _ string) {
			if len(m.pressed) == 1 {
				time.AfterFunc(4*dialog.SettleTime, func() { a.set(func(*agent) { m.selected = 0 }) })
			}
		}
		_, err = w.Choose(w.ctx, r.ID, d.Fingerprint, 1)
		require.NoError(t, err)
		_, chosen := a.took(m)
		assert.Equal(t, []string{m.options[1]}, chosen)
	})
}

// A screen that comes between the arrows and the Enter gets no Enter.
func TestP7_InterveningScreenGetsNoEnter(t *testing.T) {
	tests := []struct {
		name string
		then func(w *world, r session.Record, a *agent)
		want error
	}{
		{"it is answered at the desk, the box is back", func(_ *world, _ session.Record, a *agent) { a.close() }, dialog.ErrNoDialog},
		{"a draft stands in the box", func(_ *world, _ session.Record, a *agent) { a.close(); a.box = "mine" }, dialog.ErrNoDialog},
		{"another command of the same words", func(_ *world, _ session.Record, a *agent) {
			a.menu = askBash("rm -rf /")
			a.menu.selected = 2
		}, dialog.ErrChanged},
		{"other options", func(_ *world, _ session.Record, a *agent) {
			a.menu.options = []string{"Yes", "No"}
		}, dialog.ErrChanged},
		{"a request comes to the chat", func(w *world, r session.Record, _ *agent) { w.relays.ask(r) }, dialog.ErrRelayed},
		{"presence says that it was answered", func(_ *world, _ session.Record, a *agent) {
			a.status, a.since = presence.Busy, time.Now()
		}, dialog.ErrChanged},
		{"presence cannot be read", func(_ *world, _ session.Record, a *agent) { a.unreadable = presence.ErrTorn }, view.ErrUnseen},
		{"the agent ends", func(w *world, _ session.Record, a *agent) { w.processes.Exit(a.id.PID) }, view.ErrNoAgent},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				m := askBash("touch x")
				r, a, d := w.asked(m)
				m.onKey = func(m *menu, key string) {
					if len(m.pressed) == 2 {
						tc.then(w, r, a)
					}
				}
				_, err := w.Choose(w.ctx, r.ID, d.Fingerprint, 3)
				require.ErrorIs(t, err, tc.want)
				assert.NotContains(t, w.order.all(), "enter")
				assert.Empty(t, a.heard())
			})
		})
	}
}

// Nothing is pressed unless the dialog is the one that the button was drawn for.
func TestP7_KeyGoesOnlyToButtonsDialog(t *testing.T) {
	gone := func(_ *world, _ session.Record, a *agent) { a.set(func(a *agent) { a.close() }) }
	tests := []struct {
		name string
		then func(w *world, r session.Record, a *agent)
		want error
	}{
		{"the box is back", gone, dialog.ErrNoDialog},
		{"another command", func(_ *world, _ session.Record, a *agent) { a.asks(askBash("rm -rf /")) }, dialog.ErrChanged},
		{"the cursor was moved", func(_ *world, _ session.Record, a *agent) { a.set(func(a *agent) { a.menu.selected = 1 }) }, dialog.ErrChanged},
		{"a tick", func(_ *world, _ session.Record, a *agent) { a.set(func(a *agent) { a.menu.options[0] = "✔ Yes" }) }, dialog.ErrChanged},
		{"a foot", func(_ *world, _ session.Record, a *agent) { a.set(func(a *agent) { a.menu.foot = " Esc to go back" }) }, dialog.ErrChanged},
		{"the agent has ended", func(w *world, _ session.Record, a *agent) { w.tmux.die(a, tmuxtest.Exit{}) }, view.ErrNoAgent},
		{"the session is archived", func(w *world, r session.Record, _ *agent) {
			require.NoError(w.t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"}))
		}, view.ErrNoAgent},
		{"nobody knows whether it lives", func(w *world, _ session.Record, _ *agent) {
			w.processes.HideLiveness(true)
		}, view.ErrUnseen},
		{"tmux does not say", func(w *world, _ session.Record, _ *agent) { w.tmux.Hang() }, view.ErrSilent},
		{"the screen cannot be read", func(w *world, _ session.Record, _ *agent) { w.tmux.Fail("Capture", tmux.ErrLost) }, view.ErrUnseen},
		{"presence says that it was just answered", func(_ *world, _ session.Record, a *agent) {
			a.set(func(a *agent) { a.status, a.since = presence.Busy, time.Now() })
		}, dialog.ErrChanged},
		{"somebody scrolls", func(w *world, _ session.Record, a *agent) {
			w.tmux.Change(a.pane, func(p *tmux.Pane) { p.InMode = true })
		}, tmux.ErrGuard},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a, d := w.asked(askBash("touch x"))
				w.stop()
				tc.then(w, r, a)
				for _, key := range dialogKeys {
					if !errors.Is(tc.want, view.ErrUnseen) { // tmux's failures are reported once
						_, err := w.Press(w.ctx, r.ID, d.Fingerprint, key)
						require.ErrorIs(t, err, tc.want, key)
					}
				}
				_, err := w.Choose(w.ctx, r.ID, d.Fingerprint, 0)
				require.ErrorIs(t, err, tc.want)
				a.set(func(a *agent) { assert.Zero(t, a.inputs) })
			})
		})
	}
}

func TestP7_EarlierLaunchsButtonIsStale(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _, d := w.asked(askBash("touch x"))
		require.NoError(t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"}))
		r, err := w.restoreIt(r.ID)
		require.NoError(t, err)
		w.report(r)
		w.pass(time.Second)
		a := w.tmux.agentOf(w.get(r.ID))
		a.asks(askBash("touch x"))
		_, err = w.Press(w.ctx, r.ID, d.Fingerprint, "enter")
		require.ErrorIs(t, err, dialog.ErrChanged)
		assert.NotContains(t, w.order.after("new-window"), "enter")
	})
}

func TestPressPressesTheKey(t *testing.T) {
	for _, name := range dialogKeys {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				m := askBash("touch x")
				m.selected = 1
				r, a, d := w.asked(m)
				after, err := w.Press(w.ctx, r.ID, d.Fingerprint, name)
				require.NoError(t, err)
				pressed, _ := a.took(m)
				assert.Equal(t, []string{name}, pressed)
				moves := name == "up" || name == "down"
				assert.Equal(t, moves, after.Open && after.Fingerprint != d.Fingerprint, "%+v", after)
				assert.Equal(t, name == "esc" || name == "enter", !after.Open)
			})
		})
	}
	inWorld(t, func(t *testing.T, w *world) {
		r, a, d := w.asked(askBash("touch x"))
		for _, digit := range []string{"1", "C-u", "", "Enter"} {
			_, err := w.Press(w.ctx, r.ID, d.Fingerprint, digit)
			require.Error(t, err)
		}
		assert.Empty(t, w.tmux.Inputs(a.pane))
	})
}

// While the chat has the question nothing is chosen in the terminal; Esc works, and moving the
// cursor is harmless.
func TestP7_WaitingRequestRefusesEnter(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		m := askBash("touch x")
		r, a, d := w.asked(m)
		w.relays.ask(r)
		for _, key := range []string{"enter", "space", "tab"} {
			again, err := w.Press(w.ctx, r.ID, d.Fingerprint, key)
			require.ErrorIs(t, err, dialog.ErrRelayed, key)
			assert.True(t, again.Relayed)
		}
		_, err := w.Choose(w.ctx, r.ID, d.Fingerprint, 1)
		require.ErrorIs(t, err, dialog.ErrRelayed)
		pressed, _ := a.took(m)
		assert.Empty(t, pressed)
		d, err = w.Press(w.ctx, r.ID, d.Fingerprint, "down")
		require.NoError(t, err)
		_, err = w.Press(w.ctx, r.ID, d.Fingerprint, "esc")
		require.NoError(t, err)
		pressed, _ = a.took(m)
		assert.Equal(t, []string{"down", "esc"}, pressed)
	})
}

// The trust question comes before the first presence file and SessionStart.
func TestP7_StartQuestionIsAnswered(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		m := &menu{head: []string{" Accessing workspace:"}, options: []string{"No, exit", "Yes, I trust this folder"}, foot: " Enter to confirm · Esc to cancel"}
		m.onTaken = func(a *agent) { a.silent = false }
		w.tmux.onLaunch = func(a *agent, _ *tmuxtest.Process) { a.menu, a.silent = m, true }
		r, a := w.starting()
		w.pass(time.Minute)
		require.Equal(t, 1, toldOf[news.Dialog](w.news))
		d := lastOf[news.Dialog](w.news).Dialog
		require.NotNil(t, d)
		require.Equal(t, m.options, d.Options)
		_, err := w.Choose(w.ctx, r.ID, d.Fingerprint, 1)
		require.NoError(t, err)
		_, chosen := a.took(m)
		assert.Equal(t, []string{"Yes, I trust this folder"}, chosen)
		w.report(r)
		w.pass(time.Second)
		assert.Equal(t, session.Running, w.get(r.ID).State)
		assert.Equal(t, 1, toldOf[news.DialogGone](w.news))
	})
}

// A key that ends the agent has had its effect.
func TestAnswerEndingAgentIsNotError(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		m := askBash("touch x")
		r, _, d := w.asked(m)
		m.onTaken = func(a *agent) { w.processes.Exit(a.id.PID) }
		after, err := w.Choose(w.ctx, r.ID, d.Fingerprint, 3)
		require.NoError(t, err)
		assert.False(t, after.Open)
	})
}

// A page that is only closed has nothing to choose.
func TestEscClosesPage(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		m := &menu{head: []string{"  Settings  Status   Config"}, foot: "  Esc to cancel", page: true}
		r, a, d := w.asked(m)
		assert.Empty(t, d.Options)
		assert.Equal(t, -1, d.Selected)
		_, err := w.Choose(w.ctx, r.ID, d.Fingerprint, 0)
		require.ErrorIs(t, err, dialog.ErrChanged)
		after, err := w.Press(w.ctx, r.ID, d.Fingerprint, "esc")
		require.NoError(t, err)
		assert.False(t, after.Open)
		pressed, _ := a.took(m)
		assert.Equal(t, []string{"esc"}, pressed)
	})
}

// TestP7_StopKeyNeedsItsPage: elsewhere the key that stops a command could mean anything. A clock and an output on the page do not
// refuse it; another command does.
func TestP7_StopKeyNeedsItsPage(t *testing.T) {
	for _, tt := range []struct {
		name, foot string
		want       bool
	}{
		{"the page of a command", "  ← to go back · x to stop · Enter/Space to close · Esc to close", true},
		{"another page", "  Esc to cancel", false},
		{"a page whose text says so", "  Esc to cancel · see x to stop", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				m := &menu{head: []string{"  serve", "  shell", "", "  Runtime:  4s", "  Command:  vite --port 3000", "", "  Output", "  No output yet"}, foot: tt.foot, page: true}
				r, a, d := w.asked(m)
				assert.Equal(t, tt.want, d.Stops)
				a.set(func(*agent) { m.head[3], m.head[7] = "  Runtime:  1m 1s", "  listening on 8080" })
				a.set(func(*agent) { m.head[4] = "  Command:  vite --port 3001" })
				_, err := w.Press(w.ctx, r.ID, d.Fingerprint, "x")
				require.ErrorIs(t, err, dialog.ErrChanged)
				a.set(func(*agent) { m.head[4] = "  Command:  vite --port 3000" })
				_, err = w.Press(w.ctx, r.ID, d.Fingerprint, "x")
				pressed, _ := a.took(m)
				if tt.want {
					require.NoError(t, err)
					assert.Equal(t, []string{"x"}, pressed)
					return
				}
				require.ErrorIs(t, err, dialog.ErrChanged)
				assert.Empty(t, pressed)
			})
		})
	}
}

// Presence says that the agent waits, the screen is not understood.
func TestUnrecognisedDialogTakesKeys(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		m := &menu{plain: true, head: []string{"Something new", "is asked"}}
		r, a, d := w.asked(m)
		assert.Empty(t, d.Options)
		assert.Contains(t, d.Lines, "Something new")
		a.set(func(*agent) { m.above = "✶ Zesting… (5s · ↓ 119 tokens)" })
		_, err := w.Choose(w.ctx, r.ID, d.Fingerprint, 0)
		require.ErrorIs(t, err, dialog.ErrChanged, "there is nothing to choose")
		_, err = w.Press(w.ctx, r.ID, d.Fingerprint, "enter")
		require.NoError(t, err)
		pressed, _ := a.took(m)
		assert.Equal(t, []string{"enter"}, pressed)
	})
}

// An agent that says that it waits and shows its prompt box: an Enter might go
// into the box.
func TestP7_FilledBoxGetsNoEnter(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.status, a.box = presence.Waiting, "mine" })
		w.pass(time.Minute)
		d, err := w.Dialog(w.ctx, r.ID)
		require.NoError(t, err)
		require.True(t, d.Open)
		for _, key := range []string{"enter", "space"} {
			_, err = w.Press(w.ctx, r.ID, d.Fingerprint, key)
			require.ErrorIs(t, err, view.ErrUnseen)
		}
		assert.Empty(t, w.tmux.Inputs(a.pane))
		_, err = w.Press(w.ctx, r.ID, d.Fingerprint, "esc")
		require.NoError(t, err)
	})
}

// In a shell's pane the agent must be in front.
func TestP7_AdoptedAgentsShellGetsNoKey(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, h := w.adopted()
		m := askBash("touch x")
		h.asks(m)
		w.pass(time.Minute)
		d, err := w.Dialog(w.ctx, r.ID)
		require.NoError(t, err)
		require.True(t, d.Open)
		_, err = w.Press(w.ctx, r.ID, d.Fingerprint, "down")
		require.NoError(t, err)
		w.tmux.suspend(h)
		_, err = w.Press(w.ctx, r.ID, d.Fingerprint, "enter")
		require.ErrorIs(t, err, view.ErrNoAgent)
		_, err = w.Dialog(w.ctx, r.ID)
		require.ErrorIs(t, err, view.ErrNoAgent)
		pressed, _ := h.took(m)
		assert.Equal(t, []string{"down"}, pressed)
	})
}

func TestDialogOfMissingSession(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		_, err := w.Dialog(w.ctx, uuid.New())
		require.ErrorIs(t, err, session.ErrNotFound)
		_, err = w.Press(w.ctx, uuid.New(), "x", "enter")
		require.ErrorIs(t, err, session.ErrNotFound)
		r, _ := w.started()
		d, err := w.Dialog(w.ctx, r.ID)
		require.NoError(t, err)
		assert.False(t, d.Open)
		assert.Empty(t, d.Fingerprint)
	})
}

func TestMarkDependsOnDialogAlone(t *testing.T) {
	shown := func(change func(m *menu)) coding.Screen {
		m := askBash("touch x")
		change(m)
		return claudeui.Read(m.screen())
	}
	r := in(session.Running)
	markOf := func(r session.Record, s coding.Screen) string {
		return view.DialogOf(r, viewtest.Free(viewtest.WaitsFor("permission prompt"), func(v *view.View) { v.Screen = s })).Fingerprint
	}
	fingerprint := markOf(r, shown(func(*menu) {}))
	assert.Len(t, fingerprint, 21)
	assert.NotContains(t, fingerprint, ":")
	tests := []struct {
		name   string
		change func(m *menu)
		same   bool
	}{
		{"nothing", func(*menu) {}, true},
		{"a spinner above", func(m *menu) { m.above = "✶ Zesting… (5s · ↓ 119 tokens)" }, true},
		{"a clock above", func(m *menu) { m.above = "  12:04:05" }, true},
		{"the cursor", func(m *menu) { m.selected = 1 }, false},
		{"a tick", func(m *menu) { m.options[1] = "✔ " + m.options[1] }, false},
		{"a label", func(m *menu) { m.options[3] = "No, and tell Claude what to do differently" }, false},
		{"the command", func(m *menu) { m.head[1] = " touch y" }, false},
		{"the foot", func(m *menu) { m.foot = " Esc to cancel" }, false},
		{"one option less", func(m *menu) { m.options = m.options[:3] }, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.same, fingerprint == markOf(r, shown(tc.change)))
		})
	}
	other := in(session.Running)
	other.Binding.Agent = process.Identity{PID: 7, Start: 8, Boot: boot}
	assert.NotEqual(t, fingerprint, markOf(other, shown(func(*menu) {})), "another launch")
	unknown := func(text string) coding.Screen { return coding.Screen{Text: text} }
	assert.Equal(t, markOf(r, unknown("● Running\n✶ Zesting… (5s)\nwhat?")), markOf(r, unknown("  Running\n✻ Baking… (6s)\nwhat?")))
	assert.NotEqual(t, markOf(r, unknown("what?")), markOf(r, unknown("what!")))
}

func TestUnsendableKeyIsReported(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a, d := w.asked(askBash("touch x"))
		why := errors.New("no tmux")
		w.tmux.Fail("Enter", why)
		_, err := w.Press(w.ctx, r.ID, d.Fingerprint, "enter")
		require.ErrorIs(t, err, why)
		assert.Empty(t, w.tmux.Inputs(a.pane))
	})
}

// A screen on which no dialog is recognised may hold the lower half of one: a question that is
// longer than the terminal, with what it asks about out of sight.
func TestP7_UnrecognisedDialogIsWholeIfVisible(t *testing.T) {
	for _, tt := range []struct {
		name     string
		screen   string
		scrolled int
		whole    bool
	}{
		{"all of the window", "Welcome\n\nPress any key", 0, true},
		{"rows have left the window", "filler\nPress any key", 3, false},
		{"rows are hidden", "filler\n↑ 22 more lines\nPress any key", 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := view.View{Agent: process.Alive, Fate: view.PaneOurs, Captured: true, Reader: claudeui.Reader{}, Screen: claudeui.Read(tt.screen),
				State: view.AgentState{Known: view.StateWritten, Phase: talk.PhaseWaitingPermission}, Pane: tmux.Pane{Scrolled: tt.scrolled}}
			require.Nil(t, v.Screen.Dialog)
			d := view.DialogOf(session.Record{State: session.Running}, v)
			assert.True(t, d.Open)
			assert.Equal(t, strings.Split(tt.screen, "\n"), d.Lines)
			assert.Equal(t, tt.whole, d.Whole)
		})
	}
}
