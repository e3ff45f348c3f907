package git

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestP9_GitsMemoryIsBounded lets a repository name files without an end, which git reads as one
// line.
func TestP9_GitsMemoryIsBounded(t *testing.T) {
	for name, plant := range map[string]func(r repo){
		"configured":        func(r repo) { r.git("config", "core.attributesFile", "/dev/zero") },
		"own attributes":    func(r repo) { r.link("/dev/zero", ".git/info/attributes") },
		"replaced ancestry": func(r repo) { r.link("/dev/zero", ".git/info/grafts") },
	} {
		t.Run(name, func(t *testing.T) {
			r := inRoom(t)
			r.file("a", "two\n")
			require.NoError(t, os.MkdirAll(filepath.Join(r.dir, ".git", "info"), 0o700))
			plant(r)
			g, err := open(t.Context(), r.dir, r.env)
			require.NoError(t, err)
			_, err = g.run(t.Context(), "diff", "HEAD") // git ends by itself
			refused := (*Refused)(nil)
			require.ErrorAs(t, err, &refused)
			assert.Contains(t, refused.Output, "Out of memory")
			assert.NotErrorIs(t, err, context.DeadlineExceeded)
		})
	}
}
