package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/jsonl"
	"ccbot/port/talk"
)

func TestBashOutputFollowsCommand(t *testing.T) {
	line := func(content string) string {
		return `{"type":"user","uuid":"u","message":{"role":"user","content":"` + content + `"}}` + "\n"
	}
	said := line("they said <bash-input>not a command</bash-input>")
	first := line("<bash-input>make test</bash-input>")
	path := filepath.Join(t.TempDir(), "t.jsonl")
	text := said + first + line("<bash-stdout>one</bash-stdout><bash-stderr></bash-stderr>") +
		line("<bash-input>ls</bash-input>") + strings.Repeat(line("filler"), 10) + said + line("<bash-stdout>two</bash-stdout>")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	reader := Form().Open(talk.Cursor{Path: path})
	defer reader.Close()
	var commands []string
	for {
		item, ok, err := reader.Next()
		require.NoError(t, err)
		if !ok {
			break
		}
		if item.Kind == jsonl.LocalOutput {
			commands = append(commands, Form().BashCommand(item.At))
		}
	}
	assert.Equal(t, []string{"!make test", "!ls"}, commands)
	assert.Empty(t, Form().BashCommand(talk.Cursor{Path: path, Offset: int64(len(said))}))
	assert.Empty(t, Form().BashCommand(talk.Cursor{Path: path, Offset: int64(len(text)) + 1}))
	assert.Empty(t, Form().BashCommand(talk.Cursor{Path: path + "x", Offset: 5}))
}
