package e2e

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestFirstPromptNamesSession: only a name that no person chose changes. The window follows.
func TestFirstPromptNamesSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	folder := filepath.Base(w.dir)
	called := func(name string) {
		t.Helper()
		w.until("the window is called "+name, func() bool { return slices.Equal(w.windows(), []string{name}) })
		assert.Equal(t, name, w.record(name).Name)
	}
	w.hear(w.say("/new "+w.dir), folder+" is ready")
	called(folder)
	w.hear(w.say("say fix login test"), "fix login test")
	called(folder + "-say-fix-login")
	w.hear(w.say("say and docs"), "and docs")
	w.hear(w.say("/rename mine"), "now called mine")
	called("mine")
	w.stop()
}
