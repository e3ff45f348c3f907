package claudesettings

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/internal/disk/disktest"
	"ccbot/internal/hookwire"
)

// turnsOfLaunches writes the settings of a launch, and removes the files of another one.
func turnsOfLaunches() *disktest.Turns {
	var dir string
	launched, ended := uuid.New(), uuid.New()
	launch := func() Launch {
		return Launch{Dir: dir, HookBinary: filepath.Join(dir, "ccbot-hook"), Mode: agent.ModeAsk}
	}
	return &disktest.Turns{
		Prepare: func(t *testing.T) string {
			dir = t.TempDir()
			_, err := hookwire.WriteStatus(dir, hookwire.Status{Version: hookwire.Version, Launch: ended.String(), SessionID: uuid.NewString(), At: time.Now()})
			require.NoError(t, err)
			return dir
		},
		Turn: disktest.InOrder(
			func() error { _, err := launch().Write(launched, dir, nil); return err },
			func() error { return launch().Remove(ended) }),
		Done: func(t *testing.T) {
			assert.FileExists(t, filepath.Join(dir, launchFolder, launched.String()+".json"))
			left, err := os.ReadDir(filepath.Join(dir, hookwire.StatusFolder))
			require.NoError(t, err)
			assert.Empty(t, left)
		},
	}
}

func TestP8_LaunchSettingsOutliveFaults(t *testing.T) {
	disktest.Run(t, func() disktest.Scenario { return turnsOfLaunches() })
}
