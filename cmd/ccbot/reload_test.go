package main

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDifferingSettingsAreNamed: those alone that a reload does not take over.
func TestDifferingSettingsAreNamed(t *testing.T) {
	environ := []string{"HOME=" + t.TempDir(), "TELEGRAM_BOT_TOKEN=" + goodToken, "ALLOWED_USERS=1"}
	c, err := loadConfig(environ)
	require.NoError(t, err)
	again, err := loadConfig(environ)
	require.NoError(t, err)
	assert.Empty(t, c.differing(again, taken))
	again.AllowedUsers, again.AllowedChats, again.LogLevel = ids{2}, ids{-3}, "debug"
	assert.Empty(t, c.differing(again, taken))
	again.KillGrace = time.Hour
	require.NoError(t, again.Token.UnmarshalText([]byte(goodToken+"x")))
	assert.Equal(t, []string{"TELEGRAM_BOT_TOKEN", "KILL_GRACE"}, c.differing(again, taken))
	assert.Equal(t, []string{"TELEGRAM_BOT_TOKEN", "ALLOWED_USERS", "ALLOWED_CHATS", "KILL_GRACE", "LOG_LEVEL"}, c.differing(again, nil))
}

// TestAReloadSaysToWhomWhatBeginsAtTheDeskBelongs, as it says who may speak.
func TestAReloadSaysToWhomWhatBeginsAtTheDeskBelongs(t *testing.T) {
	environ := machine(t)
	require.NoError(t, aside(t, environ, func(ctx context.Context, s *system) error {
		assert.Equal(t, int64(1), s.owner.Load())
		s.level, s.environ = new(slog.LevelVar), append(environ, "ALLOWED_USERS=3,2")
		s.reload(ctx)
		assert.Equal(t, int64(3), s.owner.Load())
		return nil
	}))
}
