package demoagent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ccbot/try/demoagent/script"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The word "work" asks no questions, keeps a to-do list, has a call that fails, and changes files
// in a playground alone.
func TestWork(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	w, p := s.idle()
	w.Submit("work 6")
	w.WaitFor("All 6 steps are done")
	s.waitStatus(w, "idle")
	shape := s.shape(p.SessionID)
	assert.Equal(t, 4, strings.Count(shape, "[tool_use] TodoWrite"))
	assert.Contains(t, shape, "assistant [tool_use] Bash\nuser [tool_result] Exit code 2")
	assert.NoFileExists(t, filepath.Join(s.cwd, "colours.conf"))

	require.NoError(t, os.WriteFile(filepath.Join(s.cwd, script.Playground), nil, 0o600))
	w.Submit("work 5")
	w.WaitFor("All 5 steps are done")
	assert.FileExists(t, filepath.Join(s.cwd, "colours.conf"))
	assert.FileExists(t, filepath.Join(s.cwd, "notes.md"))
	names, _ := s.events()
	assert.NotContains(t, names, "PermissionRequest/Bash")
}
