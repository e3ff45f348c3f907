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
			away, seen := Absence(dir, stopped{}, now)
			assert.Equal(t, tt.want, away)
			assert.Equal(t, tt.want == 0, seen.IsZero())
			if away > 0 {
				assert.True(t, seen.Equal(tt.last), seen)
			}
		})
	}
}

// stopped is a clock that cannot be read.
type stopped struct{}

func (stopped) Now() string                        { return "" }
func (stopped) Since(string) (time.Duration, bool) { return 0, false }

// running is a clock that began with the test.
type running struct{ began time.Time }

func (c running) Now() string { return time.Since(c.began).String() }
func (c running) Since(moment string) (time.Duration, bool) {
	then, err := time.ParseDuration(moment)
	return time.Since(c.began) - then, err == nil
}

func TestCcbotNotesThatItIsThere(t *testing.T) {
	for name, c := range map[string]func() Clock{"wall clock": func() Clock { return stopped{} }, "boot clock": func() Clock { return running{time.Now()} }} {
		t.Run(name, func(t *testing.T) { notesThatItIsThere(t, c) })
	}
}

// TestAbsenceByTheBootClock: a change of the wall clock has no effect.
func TestAbsenceByTheBootClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, c := t.TempDir(), running{time.Now()}
		require.NoError(t, noteAlive(dir, c))
		time.Sleep(time.Minute)
		for _, set := range []time.Duration{0, 3 * time.Hour, -3 * time.Hour} {
			away, seen := Absence(dir, c, time.Now().Add(set))
			assert.Equal(t, time.Minute, away)
			assert.False(t, seen.IsZero())
		}
		away, _ := Absence(dir, stopped{}, time.Now().Add(3*time.Hour))
		assert.Equal(t, 3*time.Hour+time.Minute, away.Round(time.Minute), "after a boot only the wall clock is left")
	})
}

func notesThatItIsThere(t *testing.T, clock func() Clock) {
	synctest.Test(t, func(t *testing.T) {
		c := clock()
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- KeepAlive(ctx, dir, c, slog.New(slog.DiscardHandler)) }()
		for range 3 {
			time.Sleep(alivePace + time.Second)
			away, _ := Absence(dir, c, time.Now())
			assert.LessOrEqual(t, away, alivePace)
		}
		time.Sleep(alivePace / 2)
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
		away, _ := Absence(dir, c, time.Now())
		assert.Zero(t, away, "the end counts, too")
		info, err := os.Stat(filepath.Join(dir, aliveFile))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	})
}
