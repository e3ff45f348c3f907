package running

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/config"
)

// TestDifferingSettingsAreNamed: those alone that a reload does not take over.
func TestDifferingSettingsAreNamed(t *testing.T) {
	environ := []string{"HOME=" + t.TempDir(), "TELEGRAM_BOT_TOKEN=" + goodToken, "ALLOWED_USERS=1"}
	c, err := config.Load(environ)
	require.NoError(t, err)
	again, err := config.Load(environ)
	require.NoError(t, err)
	assert.Empty(t, c.Differing(again, taken))
	again.AllowedUsers, again.AllowedChats, again.LogLevel = []int64{2}, []int64{-3}, "debug"
	assert.Empty(t, c.Differing(again, taken))
	again.KillGrace = time.Hour
	require.NoError(t, again.Token.UnmarshalText([]byte(goodToken+"x")))
	assert.Equal(t, []string{"TELEGRAM_BOT_TOKEN", "KILL_GRACE"}, c.Differing(again, taken))
	assert.Equal(t, []string{"TELEGRAM_BOT_TOKEN", "ALLOWED_USERS", "ALLOWED_CHATS", "KILL_GRACE", "LOG_LEVEL"}, c.Differing(again, nil))
}

// A reload also changes the allowed people.
func TestReloadChangesOwnerOfTerminalStarts(t *testing.T) {
	environ := machine(t)
	require.NoError(t, aside(t, environ, func(ctx context.Context, s *system) error {
		assert.Equal(t, int64(1), s.owner.Load())
		s.level, s.Environ = new(slog.LevelVar), append(environ, "ALLOWED_USERS=3,2")
		s.reload(ctx)
		assert.Equal(t, int64(3), s.owner.Load())
		return nil
	}))
}
