package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestP5_TranscriptBecomesNoFile: a pipe or a folder takes the name of a transcript. That is
// reported once, and the output after the file's return is shown.
func TestP5_TranscriptBecomesNoFile(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(path string) error{
		"pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"pipe in one step": func(path string) error {
			return errors.Join(os.Link(path+".away", path), syscall.Mkfifo(path+".pipe", 0o600), os.Rename(path+".pipe", path))
		},
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, withCards)
			w.start()
			w.open("work", w.dir)
			w.hear(w.say("say before"), "before")
			w.drained()
			w.agentIsIdle("work") // the end of its turn writes to the transcript, and to write to a pipe waits for a reader
			path := w.record("work").Cursors[0].Path
			require.NoError(t, os.Rename(path, path+".away"))
			require.NoError(t, put(path))
			w.until("that is logged", func() bool { return strings.Contains(w.bot.log.String(), "msg=transcript_unreadable") })
			w.hear(0, "work's conversation file cannot be read")
			w.until("/health names it", func() bool { // between two tries it is not known
				return strings.Contains(w.hear(w.say("/health"), "ccbot v0.0.1, started").Text, filepath.Base(path)+" cannot be read")
			})
			require.NoError(t, os.Remove(path))
			require.NoError(t, os.Rename(path+".away", path))
			w.hear(w.say("say after"), "after")
			w.drained()
			assert.Equal(t, 1, strings.Count(w.bot.log.String(), "level=ERROR msg=transcript_unreadable"), w.bot.log)
			assert.Equal(t, 1, w.heard("before"))
			assert.Equal(t, 1, w.heard("conversation file"))
			w.stop()
		})
	}
}
