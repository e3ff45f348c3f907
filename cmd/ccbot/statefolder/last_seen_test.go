package statefolder

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAbsence(t *testing.T) {
	now := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name string
		last time.Time
		want time.Duration
	}{
		{"not known", time.Time{}, 0},
		{"a moment", now.Add(-time.Second), time.Second},
		{"long", now.Add(-16 * time.Minute), 16 * time.Minute},
		{"a clock that was set back", now.Add(time.Hour), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if !tt.last.IsZero() {
				require.NoError(t, touch(filepath.Join(dir, aliveFile), tt.last))
			}
			away, seen := Absence(dir, now)
			assert.Equal(t, tt.want, away)
			assert.Equal(t, tt.want == 0, seen.IsZero())
			if away > 0 {
				assert.True(t, seen.Equal(tt.last), seen)
			}
		})
	}
}

func TestCcbotNotesThatItIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- KeepAlive(ctx, dir, slog.New(slog.DiscardHandler)) }()
		for range 3 {
			time.Sleep(alivePace + time.Second)
			away, _ := Absence(dir, time.Now())
			assert.LessOrEqual(t, away, alivePace)
		}
		time.Sleep(alivePace / 2)
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
		away, _ := Absence(dir, time.Now())
		assert.Zero(t, away, "the end counts, too")
		info, err := os.Stat(filepath.Join(dir, aliveFile))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	})
}
