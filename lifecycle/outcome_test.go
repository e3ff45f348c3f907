package lifecycle

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/port"
)

// Each process is counted once: the agent of /kill, and what a retry ends after it has survived.
func TestOutcomesAreCounted(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var counted []string
		w.deps.Ender.Outcome = func(what string) { counted = append(counted, what) }
		r, _ := w.started()
		w.archive(r)
		assert.Equal(t, []string{"hup"}, counted)
		r, _ = w.started()
		require.NoError(t, w.Archive(w.ctx, r.ID, session.Completed, port.Cause{Why: "done"}))
		assert.Equal(t, []string{"hup", "hup"}, counted)
	})
	inWorld(t, func(t *testing.T, w *world) {
		var counted []string
		w.deps.Ender.Outcome = func(what string) { counted = append(counted, what) }
		r, a := w.survived()
		assert.NotContains(t, w.logged(), "leftover_spared", "it was not left alone on purpose")
		counted = nil
		require.NoError(t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "again"}))
		assert.Equal(t, []string{"failed"}, counted)
		w.processes.Exit(a.id.PID)
		w.pass(RetryMost)
		assert.Equal(t, []string{"failed"}, counted, "what had ended before is not counted")
	})
}
