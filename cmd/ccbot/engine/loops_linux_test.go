package engine

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/lifecycle/outcome"
	"ccbot/port/talk"
)

// TestLoopTurnHoldsNoFile: a loop that is stopped during the turn asks for it no more. The answer
// to one prompt is not the answer to the next.
func TestLoopTurnHoldsNoFile(t *testing.T) {
	f := newEngine(t)
	path, key := filepath.Join(f.Dir, "t.jsonl"), uuid.New()
	require.NoError(t, os.WriteFile(path, []byte(`{"type":"user","timestamp":"2026-05-04T10:00:01Z","message":{"role":"user","content":"fix it"}}`+"\n"), 0o600))
	r := session.Record{ID: uuid.New(), State: session.Running}
	r.Phase = string(talk.PhaseWorking)
	typed := outcomes{all: make(map[uuid.UUID]outcome.Prompt)}
	f.Planned = typed
	began := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	types := func(key uuid.UUID, offset int64) {
		t.Helper()
		typed.all[key] = outcome.Prompt{Text: "fix it", Finished: true, Mark: &talk.Mark{Path: path, Offset: offset, At: began}}
	}
	types(key, 0)
	e := &loopEngine{Engine: f}
	look := func(key uuid.UUID, known *outcome.Prompt) (outcome.Kind, outcome.Prompt) {
		t.Helper()
		o, p, err := e.Outcome(t.Context(), r, key, known)
		require.NoError(t, err)
		return o.Kind, p
	}
	kind, _ := look(key, nil)
	assert.Equal(t, outcome.Open, kind)
	names, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	for _, name := range names {
		open, _ := os.Readlink("/proc/self/fd/" + name.Name())
		assert.NotEqual(t, path, open)
	}
	more, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = more.WriteString(`{"type":"system","subtype":"turn_duration","timestamp":"2026-05-04T10:00:02Z"}` + "\n")
	require.NoError(t, err)
	require.NoError(t, more.Close())
	kind, first := look(key, nil)
	assert.Equal(t, outcome.Textless, kind)

	next := uuid.New() // before its prompt is sent, the loop looks at the last turn with the next key
	kind, _ = look(next, &first)
	assert.Equal(t, outcome.Textless, kind)
	info, err := os.Stat(path)
	require.NoError(t, err)
	types(next, info.Size())
	kind, _ = look(next, nil)
	assert.Equal(t, outcome.Open, kind, "the next turn has not ended with the last one")
}
