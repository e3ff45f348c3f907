package lifecycle

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/lifecycle/dialog"
	"ccbot/lifecycle/view"
)

// TestP7_TypedAnswerIsSeenBeforeEnter chooses in a dialog of screen reader mode: Enter follows only
// if the dialog shows the number of the option, and nothing else, below the same question.
func TestP7_TypedAnswerIsSeenBeforeEnter(t *testing.T) {
	tests := []struct {
		name    string
		before  func(m *menu)
		onKey   func(m *menu, key string)
		pressed []string
		err     error
	}{
		{name: "the number is there", pressed: []string{"4", "enter"}},
		{name: "the key is not taken", before: func(m *menu) { m.ignores = 1 }, pressed: []string{"4"}, err: dialog.ErrChanged},
		{name: "a person types a number, too", onKey: func(m *menu, _ string) { m.typed = "1" }, pressed: []string{"4"}, err: dialog.ErrChanged},
		{name: "another question", onKey: func(m *menu, _ string) { m.head[1] = "> rm -rf /" }, pressed: []string{"4"}, err: dialog.ErrChanged},
		{name: "a second beginning", before: func(m *menu) { m.head[1] = "Permission Required: Read file" }, err: dialog.ErrChanged},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				m := askBash("touch x")
				m.flat, m.onKey = true, tc.onKey
				m.head = []string{"Permission Required: Bash command", "> touch x", "Do you want to proceed?"}
				if tc.before != nil {
					tc.before(m)
				}
				r, a, d := w.asked(m)
				require.Equal(t, m.options, d.Options)
				_, err := w.Choose(w.ctx, r.ID, d.Fingerprint, 3)
				require.ErrorIs(t, err, tc.err)
				pressed, chosen := a.took(m)
				assert.Equal(t, tc.pressed, pressed)
				assert.Equal(t, tc.err == nil, len(chosen) == 1 && chosen[0] == "No")
			})
		})
	}
}

// TestP7_TypedAnswerNeedsWholeDialog lets a row leave the window: it may have been the dialog's
// real beginning.
func TestP7_TypedAnswerNeedsWholeDialog(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		m := askBash("touch x")
		m.flat, m.head = true, []string{"Permission Required: Bash command", "> touch x"}
		r, a, d := w.asked(m)
		require.True(t, d.Whole)
		scrolled := w.Observer.View(w.ctx, r)
		scrolled.Pane.Scrolled = 1
		assert.False(t, view.DialogOf(r, scrolled).Whole)
		pressed, _ := a.took(m)
		assert.Empty(t, pressed)
	})
}
