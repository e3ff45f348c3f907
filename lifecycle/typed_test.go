package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/tmux"
)

func TestP4_TheEnterIsToldEachTime(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.slow = true })
		w.held(r, "k", said)
		w.pass(time.Second)
		assert.Zero(t, w.news.told(NoteTyped), "it may be in the box, and no Enter was pressed")
		a.set(func(a *agent) { a.slow, a.deaf = false, true })
		w.pass(time.Second)
		assert.Equal(t, 1, w.news.told(NoteTyped))
		assert.Equal(t, "k", w.news.last(NoteTyped).Prompt.Key)
		a.set(func(a *agent) { a.deaf = false })
		w.pass(10 * time.Second)
		assert.Equal(t, 2, w.news.told(NoteTyped))
		assert.Equal(t, []string{said}, a.heard())
	})
}

func TestP4_AnEnterThatTheGuardRefusesIsNotTold(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.tmux.Fail("Enter", &tmux.GuardError{Pane: a.pane, Want: "a", Got: "b"})
		w.held(r, "k", said)
		w.pass(20 * time.Millisecond)
		assert.Zero(t, w.news.told(NoteTyped))
		w.pass(10 * time.Second)
		assert.Equal(t, 1, w.news.told(NoteTyped))
		assert.Equal(t, []string{said}, a.heard())
	})
}

// A crash between paste and Enter leaves the text in the box: the person is told
// where it stands, nothing is typed upon it, and whatever they decide it is
// submitted once at most.
func TestP4_ATextThatACrashLeftInTheBoxIsFoundAndNeverDoubled(t *testing.T) {
	for name, decide := range map[string]func(w *world, r session.Record) error{
		"send again": func(w *world, r session.Record) error { return w.SendAgain(w.ctx, r.ID, "k") },
		"drop":       func(w *world, r session.Record) error { return w.Drop(w.ctx, r.ID, "k") },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.crash("pasted", func() { w.typeHere(r, "k", said) })
				require.NoError(t, w.Reattach(w.ctx, r.ID))
				require.NoError(t, w.SettlePrompts(w.ctx, r.ID, []string{"k"}))
				require.Equal(t, Unproven, w.prompts.state("k"))
				assert.True(t, w.news.last(NoteUnproven).InBox)
				w.run()
				w.held(r, "next", "another")
				w.pass(time.Minute)
				assert.Empty(t, a.heard())
				assert.Equal(t, 1, w.news.told(NoteHeldDraft), "it holds up the next one")
				require.NoError(t, decide(w, r))
				w.pass(5 * time.Minute)
				want := map[string][]string{"send again": {said, "another"}, "drop": {"another"}}[name]
				assert.ElementsMatch(t, want, a.heard())
			})
		})
	}
}

// Where nothing of it is to be seen, nobody says that it stands there.
func TestP4_AnUnprovenTextIsNotSaidToStandInTheBox(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		w.crash("typing-marked", func() { w.typeHere(r, "k", said) })
		require.NoError(t, w.Reattach(w.ctx, r.ID))
		require.NoError(t, w.SettlePrompts(w.ctx, r.ID, []string{"k"}))
		require.Equal(t, Unproven, w.prompts.state("k"))
		assert.False(t, w.news.last(NoteUnproven).InBox)
	})
}

// typeHere queues a prompt and takes a step, so that a failpoint ends what the
// test itself does.
func (w *world) typeHere(r session.Record, key, text string) {
	w.t.Helper()
	w.held(r, key, text)
	_, _ = w.step(w.ctx, r.ID)
}
