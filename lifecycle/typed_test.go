package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/tmux"
)

func TestP4_EntersAreReported(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.slow = true })
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		assert.Zero(t, toldOf[news.Typed](w.news), "it may be in the box, and no Enter was pressed")
		a.set(func(a *agent) { a.slow, a.deaf = false, true })
		w.pass(time.Second)
		assert.Equal(t, 1, toldOf[news.Typed](w.news))
		assert.Equal(t, "k", lastOf[news.Typed](w.news).Prompt.Key)
		a.set(func(a *agent) { a.deaf = false })
		w.pass(10 * time.Second)
		assert.Equal(t, 2, toldOf[news.Typed](w.news))
		assert.Equal(t, []string{viewtest.Said}, a.heard())
	})
}

func TestP4_RefusedEnterIsNotReported(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.tmux.Fail("Enter", &tmux.GuardError{Pane: a.pane, Want: "a", Got: "b"})
		w.held(r, "k", viewtest.Said)
		w.pass(20 * time.Millisecond)
		assert.Zero(t, toldOf[news.Typed](w.news))
		w.pass(10 * time.Second)
		assert.Equal(t, 1, toldOf[news.Typed](w.news))
		assert.Equal(t, []string{viewtest.Said}, a.heard())
	})
}

// A crash between mark and Enter asks nothing: a text in the box is submitted, otherwise it is
// pasted again.
func TestP4_CrashBeforeEnterAsksNothing(t *testing.T) {
	for _, point := range []string{"typing-marked", "pasted"} {
		t.Run(point, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.tells(r, a)
				w.crash(point, func() { w.typeHere(r, "k", viewtest.Said) })
				w.comeBack()
				require.NoError(t, w.SettlePrompts(w.ctx, r.ID, []string{"k"}))
				w.held(r, "next", "another")
				w.pass(time.Minute)
				assert.Equal(t, []string{viewtest.Said, "another"}, a.heard())
				assert.Zero(t, toldOf[news.Unproven](w.news))
			})
		})
	}
}

// A prompt that a person sends again keeps its place in the queue, and follows one that a crash has
// left in the box.
func TestP4_SendAgainFollowsTextInBox(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.tells(r, a)
		w.prompts.put(typing.Prompt{Key: "asked", Session: r.ID, Text: "one", Class: talk.ClassPlain, State: typing.Unproven})
		require.NoError(t, w.SettlePrompts(w.ctx, r.ID, []string{"asked"}))
		w.crash("pasted", func() { w.typeHere(r, "next", "two") })
		w.comeBack()
		require.NoError(t, w.SendAgain(w.ctx, r.ID, "asked"))
		w.pass(time.Minute)
		assert.Equal(t, []string{"two", "one"}, a.heard())
		assert.Zero(t, w.news.held(news.HeldDraft), "no person has typed it")
	})
}

// A terminal on a busy machine may draw a paste long after tmux has taken it: it is not pasted
// again.
func TestP4_LatePasteIsNotRepeated(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.slow = true })
		w.held(r, "k", viewtest.Said)
		w.pass(typing.ProofWait - 5*time.Second)
		a.set(func(a *agent) { a.slow = false })
		w.pass(10 * time.Second)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
	})
}

// A second crash before the second paste's Enter is one too many.
func TestP4_SecondLostPasteNeedsDecision(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.crash("typing-marked", func() { w.typeHere(r, "k", viewtest.Said) })
		w.crash("typing-marked", func() {
			require.NoError(t, w.Reattach(r.ID))
			require.NoError(t, w.SettlePrompts(w.ctx, r.ID, []string{"k"}))
			for range 200 {
				_, _ = w.step(w.ctx, r.ID)
				w.pass(100 * time.Millisecond)
			}
		})
		w.comeBack()
		require.NoError(t, w.SettlePrompts(w.ctx, r.ID, []string{"k"}))
		w.pass(time.Minute)
		assert.Equal(t, typing.Unproven, w.prompts.state("k"))
		assert.False(t, lastOf[news.Unproven](w.news).InBox)
		assert.Empty(t, a.heard())
	})
}

// tells makes an agent write each prompt into its transcript.
func (w *world) tells(r session.Record, a *agent) {
	a.set(func(a *agent) { a.onEnter = func(a *agent) { w.write(r, userLine(a.said[len(a.said)-1])) } })
}

// If there is a reason against it, the person is asked while the text is in the box, nothing is
// typed onto it, and any decision submits it at most once.
func TestP4_DoubtfulTextNeedsDecision(t *testing.T) {
	for name, decide := range map[string]func(w *world, r session.Record) error{
		"send again": func(w *world, r session.Record) error { return w.SendAgain(w.ctx, r.ID, "k") },
		"drop":       func(w *world, r session.Record) error { return w.Drop(w.ctx, r.ID, "k") },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.crash("pasted", func() { w.typeHere(r, "k", viewtest.Said) })
				w.pass(10*time.Minute + time.Second)
				w.comeBack()
				require.NoError(t, w.SettlePrompts(w.ctx, r.ID, []string{"k"}))
				w.pass(10 * time.Second)
				require.Equal(t, typing.Unproven, w.prompts.state("k"))
				assert.True(t, lastOf[news.Unproven](w.news).InBox)
				w.held(r, "next", "another")
				w.pass(time.Minute)
				assert.Empty(t, a.heard())
				assert.Equal(t, 1, w.news.held(news.HeldDraft), "it holds up the next one")
				require.NoError(t, decide(w, r))
				w.pass(5 * time.Minute)
				want := map[string][]string{"send again": {viewtest.Said, "another"}, "drop": {"another"}}[name]
				assert.ElementsMatch(t, want, a.heard())
			})
		})
	}
}

// A crash may leave a prompt's own text in the box without a mark: the prompt does not wait for
// itself.
func TestP4_PromptIgnoresOwnTextInBox(t *testing.T) {
	for name, tc := range map[string]struct {
		box    string
		folded bool
		drafts int
	}{
		"its own text":       {viewtest.Said, false, 0},
		"a person's text":    {viewtest.Said + " 🎉", false, 1},
		"what may be either": {longSaid, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.tells(r, a)
				a.set(func(a *agent) { a.box, a.folded = tc.box, tc.folded })
				text := viewtest.Said
				if tc.folded {
					text = longSaid
				}
				w.held(r, "k", text)
				w.pass(time.Minute)
				assert.Equal(t, tc.drafts, w.news.held(news.HeldDraft))
				assert.Len(t, a.heard(), 1-tc.drafts)
				assert.Equal(t, tc.drafts == 0, a.cleared > 0)
			})
		})
	}
}

// After a key in the terminal a placeholder may be a person's paste of as many lines: after any
// decision in the chat it stays until a person has cleared it, and the prompt follows.
func TestP7_SendAgainSparesPossiblePersonsPaste(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.tells(r, a)
		w.crash("pasted", func() { w.typeHere(r, "k", longSaid) })
		a.set(func(a *agent) { a.folded = true })
		w.pass(time.Minute)
		w.tmux.Change(a.pane, func(p *tmux.Pane) { p.Touched = w.Now() })
		w.comeBack()
		require.NoError(t, w.SettlePrompts(w.ctx, r.ID, []string{"k"}))
		w.pass(time.Minute)
		require.Equal(t, typing.Unproven, w.prompts.state("k"))
		require.NoError(t, w.SendAgain(w.ctx, r.ID, "k"))
		w.pass(time.Minute)
		assert.Equal(t, 1, w.news.held(news.HeldDraft))
		require.ErrorIs(t, w.SendAnyway(w.ctx, r.ID, "k"), typing.ErrDraftHidden)
		assert.Zero(t, a.cleared)
		a.set(func(a *agent) { a.box, a.folded = "", false })
		w.pass(time.Minute)
		assert.Equal(t, []string{longSaid}, a.heard())
	})
}

// Esc from the chat puts what was not taken yet back into the box: no Enter follows it.
func TestP4_EscFromChatPreventsEnter(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.deaf = true }) // a slow hook holds the prompt
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		require.NoError(t, interrupted(w, r))
		a.set(func(a *agent) { a.deaf = false })
		w.pass(time.Minute)
		assert.Empty(t, a.heard())
		assert.Equal(t, 1, toldOf[news.TakenBack](w.news), "the person decides")
		assert.Empty(t, w.get(r.ID).Prompts)
		a.set(func(a *agent) { assert.Empty(t, a.box) })
	})
}

// Even after many checks Enter is not pressed again before the terminal could draw.
func TestP7_EntersAreSpaced(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.crash("pasted", func() { w.typeHere(r, "k", viewtest.Said) })
		w.pass(10 * time.Second)
		require.NoError(t, w.Reattach(r.ID))
		a.set(func(a *agent) { a.deaf = true })
		for range 100 {
			w.pass(100 * time.Millisecond)
			_, _ = w.step(w.ctx, r.ID)
			if entered := toldOf[news.Typed](w.news); entered > 0 {
				for range 3 {
					_, _ = w.step(w.ctx, r.ID)
				}
				assert.Equal(t, entered, toldOf[news.Typed](w.news))
			}
		}
		assert.Positive(t, toldOf[news.Typed](w.news))
	})
}

// typeHere queues a prompt and takes a step, so that a failpoint ends what the
// test itself does.
func (w *world) typeHere(r session.Record, key, text string) {
	w.t.Helper()
	w.held(r, key, text)
	_, _ = w.step(w.ctx, r.ID)
}
