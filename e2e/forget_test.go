package e2e

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestForgetDeletesRecord uses the whole program: of the session, ccbot's folder keeps only
// messages to the chat, and Claude's transcript does not change.
func TestForgetDeletesRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say hello"), "hello")
	id := w.records()[0].AgentSessionID.String()
	w.until("the turn is over", func() bool { return strings.Contains(w.transcript(id), "turn_duration") })
	assert.Contains(t, w.hear(w.say("/status"), "work: ").Text, "1 turn,", "though the record may not have it yet")
	w.end("work")
	w.until("its end is on disk", func() bool { return w.stateOf("work") == "archived" })
	r := w.records()[0]
	said := w.transcript(r.AgentSessionID.String())

	over := w.hear(w.say("/status work"), "work: archived")
	w.tap(over, "Delete record")
	asked := w.hear(over.ID, "Delete ccbot's record of work, also")
	assert.Contains(t, asked.Text, r.AgentSessionID.String()+".jsonl", "it says what stays, and where")
	w.tap(asked, "Delete record")
	w.hear(asked.ID, "The record of work is deleted")
	assert.Empty(t, w.records())
	assert.Equal(t, said, w.transcript(r.AgentSessionID.String()))
	w.hear(w.say("/status work"), "no session work")
	w.stop()
	for _, folder := range []string{"sessions", "backups", "launch", "status", "asks", "cards"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(w.state, folder), func(path string, d os.DirEntry, err error) error {
			if os.IsNotExist(err) || err == nil && d.IsDir() {
				return nil
			}
			assert.False(t, strings.Contains(path+unpacked(t, path), r.ID.String()), path)
			return err
		}))
	}
}

// unpacked returns the content of a file; for a backup, the names and bytes of its records.
func unpacked(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	if strings.HasSuffix(path, ".tar.gz") {
		zipped, err := gzip.NewReader(bytes.NewReader(data))
		require.NoError(t, err)
		data, err = io.ReadAll(zipped)
		require.NoError(t, err)
	}
	return string(data)
}
