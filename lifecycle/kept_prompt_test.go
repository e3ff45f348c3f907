package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port/talk"
)

// A prompt for an ended session is typed after its restore, also in a later run.
func TestP4_KeptPromptIsTypedAfterRestore(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		w.write(r, userLine("hello"))
		w.archive(r)
		w.prompts.put(typing.Prompt{Key: "k", Text: viewtest.Said, Class: talk.ClassPlain, State: typing.Held})
		require.ErrorIs(t, w.Queue(w.ctx, r.ID, "k"), view.ErrNoAgent)
		for range 2 {
			require.NoError(t, w.Keep(w.ctx, r.ID, "k"))
		}
		assert.Equal(t, []string{"k"}, w.get(r.ID).Prompts)
		w.restart()
		w.run()
		w.pass(time.Hour)
		assert.Equal(t, typing.Held, w.prompts.state("k"), "nothing brings it back but a person")
		back, err := w.restoreIt(r.ID)
		require.NoError(t, err)
		w.report(back)
		w.pass(time.Minute)
		assert.Equal(t, []string{viewtest.Said}, w.tmux.agentOf(w.get(r.ID)).heard())
	})
}
