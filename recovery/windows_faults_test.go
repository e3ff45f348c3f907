package recovery

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/internal/disk/disktest"
	"ccbot/lifecycle/evidence"
	"ccbot/tmux/tmuxtest"
)

// turnsOfWindows ignores a window, looks which windows were not reported, and reports another one.
// The file begins as one that cannot be read.
func turnsOfWindows() *disktest.Turns {
	var m *machine
	var ignored, reported evidence.Window
	return &disktest.Turns{
		Prepare: func(t *testing.T) string {
			m = newMachine(t)
			ignored.Pane, reported.Pane = m.tmux.AddWindow(tmuxtest.Session, "one"), m.tmux.AddWindow(tmuxtest.Session, "two")
			assert.NoError(t, os.WriteFile(filepath.Join(m.base, windowsFile), []byte("{"), 0o600))
			return m.base
		},
		Turn: disktest.InOrder(
			func() error { return m.Ignore(context.Background(), ignored) },
			func() error { return m.MarkReported(context.Background(), []evidence.Window{reported}) },
			func() error {
				fresh, err := m.NewOrphans(context.Background(), []evidence.Window{reported})
				if err == nil && len(fresh) > 0 {
					err = errors.New("it was reported")
				}
				return err
			}),
		Done: func(t *testing.T) {
			list, err := m.readWindows()
			assert.NoError(t, err)
			assert.Len(t, list.Windows, 2, "a window that is ignored stays ignored")
			aside, err := os.ReadDir(filepath.Join(m.base, "quarantine"))
			assert.NoError(t, err)
			assert.Len(t, aside, 2, "the file that could not be read, and the reason")
		},
	}
}

func TestP8_WindowsOutliveFaults(t *testing.T) {
	disktest.Run(t, func() disktest.Scenario { return turnsOfWindows() })
}
