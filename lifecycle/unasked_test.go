package lifecycle

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	coding "ccbot/agent"
	"ccbot/agent/claude/presence"
	"ccbot/internal/session"
	"ccbot/lifecycle/dialog"
	"ccbot/lifecycle/view"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port"
)

// TestDialogOfPermissionWithoutRequest tells permissions whose request is missing from all other
// dialogs.
func TestDialogOfPermissionWithoutRequest(t *testing.T) {
	launched := in(session.Running)
	bypassing := in(session.Running, func(r *session.Record) { r.Launch = &session.Launch{PermissionMode: coding.ModeBypass} })
	foreign := in(session.Running, func(r *session.Record) { r.Launch = nil })
	shows := func(first string, options ...string) func(*view.View) {
		return func(v *view.View) {
			v.Screen = coding.Screen{Dialog: &coding.Dialog{Lines: []string{first}, Options: options, Whole: true, Question: strings.HasPrefix(first, "←"), Permits: slices.Contains(options, "Yes")}}
		}
	}
	bash := shows(" Bash command", "Yes", "Yes, and always allow access to /src", "No")
	question := shows("←  ☐ Database  ✔ Submit  →", "Yes", "No", "Type something.")
	trust := shows(" Do you trust this folder?", "No, exit", "Yes, I trust this folder")
	permission := viewtest.WaitsFor("permission prompt")
	for _, tt := range []struct {
		name string
		r    session.Record
		v    view.View
		want bool
	}{
		{"a permission", launched, viewtest.Free(bash, permission), true},
		{"a plan", launched, viewtest.Free(shows(" Ready to code?", "Yes, and use auto mode", "No"), permission), true},
		{"a dialog that is not recognised", launched, viewtest.Free(viewtest.NoBox, permission), true},
		{"no presence file", launched, viewtest.Free(bash, viewtest.NoPresence), true},
		{"presence is behind", launched, viewtest.Free(bash, viewtest.Status(presence.Busy)), true},
		{"a request waits", launched, viewtest.Free(bash, permission, relayed), false},
		{"a question", launched, viewtest.Free(question, viewtest.WaitsFor("input needed")), false},
		{"a question of an older version", launched, viewtest.Free(question, permission), false},
		{"a page", launched, viewtest.Free(shows(" Status"), viewtest.WaitsFor("dialog open")), false},
		{"the question about trust", launched, viewtest.Free(trust, viewtest.NoPresence), false},
		{"nothing is asked", launched, viewtest.Free(), false},
		{"started in bypass mode", bypassing, viewtest.Free(bash, permission), false},
		{"started by a person", foreign, viewtest.Free(bash, permission), false},
		{"adopted", launched, viewtest.Free(bash, permission, func(v *view.View) { v.Adopted = true }), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := view.DialogOf(tt.r, tt.v)
			assert.Equal(t, []bool{tt.want, false}, []bool{d.Unasked, d.ByPolicy})
			tt.v.HooksShut = true
			assert.Equal(t, tt.want, view.DialogOf(tt.r, tt.v).ByPolicy, "a policy explains it")
		})
	}
}

// TestP7_PermissionWithoutRequestTakesYesNo presses in the terminal's own dialog what could permit
// more than the one command.
func TestP7_PermissionWithoutRequestTakesYesNo(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		m := askBash("touch x")
		m.permission = true
		r, a, d := w.asked(m)
		require.True(t, d.Unasked)
		for i, label := range d.Options {
			assert.Equal(t, label == "Yes" || label == "No", d.CanChoose(i), label)
		}
		for _, i := range []int{1, 2} {
			_, err := w.Choose(w.ctx, r.ID, d.Fingerprint, i)
			require.ErrorIs(t, err, dialog.ErrChanged)
		}
		screen, err := w.Screen(w.ctx, r.ID, port.KeyOn{})
		require.NoError(t, err)
		assert.True(t, screen.Unasked)
		for _, key := range []string{"enter", "space", "tab"} {
			_, err := w.Press(w.ctx, r.ID, d.Fingerprint, key)
			require.ErrorIs(t, err, dialog.ErrRelayed, key)
			_, err = w.Screen(w.ctx, r.ID, port.KeyOn{Key: key, Fingerprint: screen.Fingerprint})
			require.ErrorIs(t, err, dialog.ErrRelayed, key)
		}
		_, err = w.Screen(w.ctx, r.ID, port.KeyOn{Key: "backtab", Fingerprint: screen.Fingerprint})
		require.ErrorIs(t, err, dialog.ErrRelayed)
		pressed, _ := a.took(m)
		assert.Empty(t, pressed)

		after, err := w.Choose(w.ctx, r.ID, d.Fingerprint, 3)
		require.NoError(t, err)
		assert.False(t, after.Open)
		_, chosen := a.took(m)
		assert.Equal(t, []string{"No"}, chosen)
	})
}

// TestP7_PermissionWithoutRequestTakesEsc leaves the dialog in the way that denies.
func TestP7_PermissionWithoutRequestTakesEsc(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		m := askBash("touch x")
		m.permission = true
		r, _, d := w.asked(m)
		w.pass(time.Second)
		after, err := w.Press(w.ctx, r.ID, d.Fingerprint, "esc")
		require.NoError(t, err)
		assert.False(t, after.Open)
	})
}
