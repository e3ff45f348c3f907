package ccbot_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// codexFiles are the files outside its own packages that name Codex: those that another coding
// agent takes, besides 225 lines of cmd/ccbot-codex. Two are its own, with 152 lines; the others name it in 26 lines.
var codexFiles = []string{
	"cmd/ccbot-try/main.go", // its folder in a trial
	"cmd/ccbot/config/check.go",
	"cmd/ccbot/config/config.go",
	"cmd/ccbot/doc.go",
	"cmd/ccbot/doctor/codes.go",
	"cmd/ccbot/doctor/codex.go", // its own
	"cmd/ccbot/doctor/doctor.go",
	"cmd/ccbot/engine/engine.go", // its variable in windows
	"cmd/ccbot/new.go",
	"cmd/ccbot/offline/codex.go", // its own
	"cmd/ccbot/offline/sources.go",
	"cmd/ccbot/show/list.go",
	"cmd/ccbot/uninstall.go", // its program
}

// TestFilesThatNameCodex finds a file of the chat or the engine that knows which agents there are.
func TestFilesThatNameCodex(t *testing.T) {
	var found []string
	for _, s := range sources(t) {
		own := strings.HasPrefix(s.pkg, "agent/codex") || s.pkg == "cmd/ccbot-codex" || strings.HasPrefix(s.pkg, "e2e")
		if own || s.test {
			continue
		}
		data, err := os.ReadFile(s.path)
		require.NoError(t, err)
		if bytes.Contains(bytes.ToLower(data), []byte("codex")) {
			found = append(found, s.path)
		}
	}
	assert.ElementsMatch(t, codexFiles, found)
}
