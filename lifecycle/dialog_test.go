package lifecycle

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/lifecycle/dialog"
	"ccbot/lifecycle/view"
	"ccbot/port/news"
	"ccbot/tmux/tmuxtest"
)

// opens opens a page of options for which no hook brings a request to the chat.
func (w *world) opens(m *menu) *agent {
	w.t.Helper()
	r, a := w.started()
	a.asks(m)
	a.set(func(a *agent) { a.waitingFor = "dialog open" })
	w.Wake(r.ID)
	return a
}

// posted returns the rows of each dialog that was reported, one string per report.
func (w *world) posted() (all []string) {
	for _, h := range w.news.all() {
		if d, ok := h.news.(news.Dialog); ok {
			all = append(all, strings.Join(d.Dialog.Lines, "\n"))
		}
	}
	return all
}

func TestP7_DialogIsPostedOnceItRests(t *testing.T) {
	tests := []struct {
		name    string
		draws   []time.Duration // when the terminal adds a row
		before  time.Duration   // nothing is posted until then
		after   time.Duration   // the dialog is posted at that time
		changes int             // how many of the rows the first post shows
	}{
		{"drawn at once", nil, dialog.Rest - 1, dialog.Rest, 0},
		{"one row later", []time.Duration{dialog.Rest / 2}, dialog.Rest - 1, 3 * dialog.Rest, 1},
		{"two rows later", []time.Duration{dialog.Rest / 2, dialog.Rest}, dialog.Rest, 4 * dialog.Rest, 2},
		{"it never rests", every(dialog.Rest/2, dialog.RestTimeout-1), dialog.RestTimeout - 1, dialog.RestTimeout, len(every(dialog.Rest/2, dialog.RestTimeout-1))},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				m := askBash("touch x")
				a := w.opens(m)
				for i, at := range tc.draws {
					time.AfterFunc(at, func() { a.set(func(*agent) { m.head = append(m.head, " row "+strings.Repeat("i", i+1)) }) })
				}
				w.pass(tc.before)
				assert.Empty(t, w.posted())
				w.pass(tc.after - tc.before)
				require.Len(t, w.posted(), 1)
				assert.Equal(t, tc.changes, strings.Count(w.posted()[0], "\n row "))
			})
		})
	}
}

// every returns the multiples of a span up to a limit.
func every(span, limit time.Duration) (all []time.Duration) {
	for at := span; at <= limit; at += span {
		all = append(all, at)
	}
	return all
}

// A dialog that waits for a person costs two captures per minute, also if its counters move.
func TestPostedDialogIsNotPolled(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		m := askBash("touch x")
		m.options[3] = "No (0 s)"
		a := w.opens(m)
		w.pass(time.Minute)
		require.Len(t, w.posted(), 1)
		before := w.tmux.called("Capture")
		for i := range 600 {
			a.set(func(*agent) { m.options[3] = fmt.Sprintf("No (%d s)", i) })
			w.pass(time.Second)
		}
		assert.LessOrEqual(t, w.tmux.called("Capture")-before, int(10*time.Minute/view.Slow)+1)
		assert.Len(t, w.posted(), 1)
	})
}

func TestP7_ChangedDialogIsPostedAgain(t *testing.T) {
	tests := []struct {
		name   string
		change func(m *menu)
		again  bool
	}{
		{"a row is added", func(m *menu) { m.head = append(m.head, " No code changes") }, true},
		{"a digit of the command", func(m *menu) { m.head[1] = " rm 2" }, true},
		{"a sign of the command", func(m *menu) { m.head[1] = " rm 1 /" }, true},
		{"an option", func(m *menu) { m.options[3] = "Never" }, true},
		{"the cursor", func(m *menu) { m.selected = 2 }, false},
		{"a tick", func(m *menu) { m.options[1] = "✔ " + m.options[1] }, false},
		{"how long ago an option was used", func(m *menu) { m.options[0] = "Yes 2" }, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				m := askBash("rm 1")
				a := w.opens(m)
				w.pass(time.Second)
				require.Len(t, w.posted(), 1)
				a.set(func(*agent) { tc.change(m) })
				w.WakeAgent(a.id.PID)
				w.pass(time.Second)
				assert.Equal(t, tc.again, len(w.posted()) == 2, "%q", w.posted())
				w.pass(time.Hour)
				assert.LessOrEqual(t, len(w.posted()), 2)
			})
		})
	}
}

// The chat closes a message when a tap finds that the terminal asks something else. The engine
// posts what it asks.
func TestP7_RefusedKeyPostsDialogAgain(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a, d := w.asked(askBash("touch x"))
		a.set(func(a *agent) { a.menu.selected = 2 })
		w.pass(time.Minute)
		require.Len(t, w.posted(), 1, "a person moved the cursor, and the question is the same")
		now, err := w.Choose(w.ctx, r.ID, d.Fingerprint, 0)
		require.ErrorIs(t, err, dialog.ErrChanged)
		assert.False(t, now.Same)
		w.pass(time.Second)
		assert.Len(t, w.posted(), 2)
		assert.Equal(t, now.Fingerprint, lastOf[news.Dialog](w.news).Dialog.Fingerprint)
	})
}

func TestP7_SameMeansSameQuestion(t *testing.T) {
	tests := []struct {
		name string
		then func(a *agent, m *menu) // the effect of the key
		same bool
	}{
		{"the cursor moves", func(_ *agent, m *menu) { m.selected = 1 }, true},
		{"a tick", func(_ *agent, m *menu) { m.options[0] = "✔ Yes" }, true},
		{"the keys at the foot", func(_ *agent, m *menu) { m.foot = " Esc to cancel" }, true},
		{"another command", func(a *agent, _ *menu) { a.menu = askBash("touch y") }, false},
		{"other options", func(_ *agent, m *menu) { m.options = []string{"Yes", "No"} }, false},
		{"one sign more", func(_ *agent, m *menu) { m.head[1] = " touch x /" }, false},
		{"one blank more", func(_ *agent, m *menu) { m.head[1] = " touch  x" }, false},
		{"another blank", func(_ *agent, m *menu) { m.head[1] = " touch\u00a0x" }, false},
		{"a sign like a tick", func(_ *agent, m *menu) { m.head[1] = " touch ●x" }, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				m := askBash("touch x")
				r, a, d := w.asked(m)
				m.ignores = 1
				m.onKey = func(m *menu, _ string) { tc.then(a, m) }
				now, err := w.Press(w.ctx, r.ID, d.Fingerprint, "down")
				require.NoError(t, err)
				assert.Equal(t, tc.same, now.Same)
				w.pass(time.Minute)
				if tc.same { // the tap has drawn it
					assert.Len(t, w.posted(), 1)
					return
				}
				assert.Len(t, w.posted(), 2)
				assert.Equal(t, now.Fingerprint, lastOf[news.Dialog](w.news).Dialog.Fingerprint)
			})
		})
	}
}

// Before the first presence file no dialog is recognised: the next screen is posted after a key has
// led to it.
func TestP7_NextScreenOfStartIsPosted(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		first, next := &menu{plain: true, head: []string{"Choose a theme"}}, &menu{plain: true, head: []string{"Log in"}}
		first.onTaken = func(a *agent) { a.menu = next }
		w.tmux.onLaunch = func(a *agent, _ *tmuxtest.Process) { a.menu, a.silent = first, true }
		r, _ := w.starting()
		w.pass(time.Minute)
		require.Equal(t, 1, toldOf[news.NotReporting](w.news))
		d := lastOf[news.NotReporting](w.news).Dialog
		require.NotNil(t, d)
		now, err := w.Press(w.ctx, r.ID, d.Fingerprint, "enter")
		require.NoError(t, err)
		assert.True(t, now.Open)
		assert.False(t, now.Same)
		w.pass(time.Minute)
		require.Equal(t, 2, toldOf[news.NotReporting](w.news))
		assert.Contains(t, lastOf[news.NotReporting](w.news).Dialog.Lines, "Log in")
	})
}
