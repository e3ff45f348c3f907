package received

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/disk/disktest"
)

// turnsOfFiles receives files, the same one twice, and sweeps an old file and a record that cannot
// be read.
func turnsOfFiles() *disktest.Turns {
	var w *world
	var again string
	put := func(id, name string) error {
		_, err := w.Put(w.dir, id, name, strings.NewReader("x"))
		return err
	}
	return &disktest.Turns{
		Prepare: func(t *testing.T) string {
			w = newWorld(t)
			w.put(t, "1", "old.txt", "x")
			w.at = w.at.Add(2 * time.Hour)
			again = w.put(t, "2", "again.txt", "x")
			require.NoError(t, os.WriteFile(filepath.Join(w.records, "3.json"), []byte("{"), 0o600))
			return filepath.Dir(w.records)
		},
		Turn: func() error {
			return errors.Join(put("2", "again.txt"), put("4", "new.txt"),
				w.sweep(time.Hour))
		},
		Done: func(t *testing.T) {
			assert.Equal(t, []string{again, "new.txt"}, w.names(t))
			assert.Equal(t, 2, w.noted(t), "what is not on record is never removed")
			aside, err := os.ReadDir(w.aside)
			require.NoError(t, err)
			assert.Len(t, aside, 2, "a record that cannot be read, and the reason")
		},
	}
}

func TestP8_ReceivedFilesOutliveFaults(t *testing.T) {
	disktest.Run(t, func() disktest.Scenario { return turnsOfFiles() })
}
