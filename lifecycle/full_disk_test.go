package lifecycle

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/hookwire"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port/news"
)

// fill makes the disk refuse prompts and news until free is called.
func (w *world) fill() (free func()) {
	full := errors.New("no space left on device")
	set := func(prompts error, hear func(news.News) error) {
		w.prompts.set(func(p *promptStore) { p.fail = prompts })
		w.news.set(func(n *heardNews) { n.fail = hear })
	}
	set(full, func(news.News) error { return full })
	return func() { set(nil, nil) }
}

// The disk is full from some step of a text on. Before the mark nothing is typed, after it no Enter
// is pressed; once there is space the text continues. A person is asked only about a text that was
// in the box for more than 10 minutes.
func TestP4_FullDiskOnlyDelays(t *testing.T) {
	tests := []struct {
		at    string // the step; "": before the mark
		full  time.Duration
		asked int
	}{
		{"", time.Minute, 0},
		{"", time.Hour, 0},
		{"typing-marked", time.Minute, 0},
		{"pasted", time.Minute, 0},
		{"pasted", time.Hour, 1},
		{"entered", time.Minute, 0},
		{"entered", time.Hour, 0},
	}
	for _, tc := range tests {
		for _, dies := range []bool{false, true} {
			t.Run(fmt.Sprintf("at %q for %s, dies %t", tc.at, tc.full, dies), func(t *testing.T) {
				inWorld(t, func(t *testing.T, w *world) {
					r, a := w.started()
					w.tells(r, a)
					free := func() {}
					w.order.onPoint(func(name string) {
						if name == tc.at {
							w.order.onPoint(nil)
							free = w.fill()
						}
					})
					if tc.at == "" {
						free = w.fill()
					}
					w.held(r, "k", viewtest.Said)
					w.pass(tc.full)
					if tc.at == "" {
						assert.Empty(t, w.tmux.Inputs(a.pane))
					}
					assert.Equal(t, tc.at == "entered", len(a.heard()) == 1, "nothing follows a step that is not on disk")
					free()
					if dies {
						w.restart()
						w.comeBack()
						require.NoError(t, w.SettlePrompts(w.ctx, r.ID, []string{"k"}))
					}
					w.pass(10 * time.Minute)
					assert.Equal(t, tc.asked, toldOf[news.Unproven](w.news))
					if tc.asked == 0 {
						assert.Equal(t, []string{viewtest.Said}, a.heard())
						assert.Equal(t, typing.PromptState("finished"), w.prompts.state("k"))
						return
					}
					assert.Empty(t, a.heard())
					assert.True(t, lastOf[news.Unproven](w.news).InBox)
				})
			})
		}
	}
}

// An event that cannot be written down is given again.
func TestP4_UnsavedProofComesAgain(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.onEnter = works })
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		free := w.fill()
		e := w.event(r, hookwire.UserPromptSubmit, prompted(viewtest.Said))
		require.Error(t, w.HookEvent(w.ctx, e))
		assert.Equal(t, typing.Typing, w.prompts.state("k"))
		free()
		require.NoError(t, w.HookEvent(w.ctx, e))
		assert.Equal(t, typing.PromptState("finished"), w.prompts.state("k"))
		assert.Equal(t, 1, toldOf[news.Delivered](w.news))
	})
}
