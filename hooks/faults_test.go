package hooks

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/disk/disktest"
	"ccbot/internal/hookwire"
	"ccbot/internal/pause"
	"ccbot/internal/watch"
)

// faultyEvents gets events of two launches and a file that is no event.
type faultyEvents struct {
	dir string
	s   *sink
	e   *Events
}

func (f *faultyEvents) Begin(t *testing.T) string {
	f.dir, f.s = t.TempDir(), newSink(nil)
	f.e = NewEvents(f.dir, f.s, watch.New(slog.New(slog.DiscardHandler)), slog.New(slog.DiscardHandler))
	follow(t, f.e)
	return f.dir
}

// follow makes passes until the test has ended.
func follow(t *testing.T, e *Events) {
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.follow(ctx) }()
	t.Cleanup(func() {
		end()
		assert.NoError(t, <-done)
	})
}

func (f *faultyEvents) Act(t *testing.T) {
	for i := range 3 {
		put(t, f.dir, "l"+strconv.Itoa(i%2), strconv.Itoa(i), time.Now().Add(time.Duration(i)))
	}
	require.NoError(t, os.WriteFile(filepath.Join(f.dir, hookwire.EventsFolder, "odd.json"), []byte("{"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(f.dir, hookwire.EventsFolder, ".old"), nil, 0o600))
	long := time.Now().Add(-2 * keepTemporary)
	require.NoError(t, os.Chtimes(filepath.Join(f.dir, hookwire.EventsFolder, ".old"), long, long))
	pause.Poke(f.e.arrived)
}

func (f *faultyEvents) Check(t *testing.T) {
	assert.ElementsMatch(t, []string{"0", "1", "2"}, f.s.have())
	assert.NotContains(t, left(t, f.dir, "events"), "odd.json")
	assert.Contains(t, left(t, f.dir, "quarantine"), "events-odd.json")
}

func TestP8_EventsOutliveFaults(t *testing.T) {
	disktest.Run(t, func() disktest.Scenario { return &faultyEvents{} })
}

// TestP8_EventOutlivesFullDisk: the sink cannot save what an event changes, for longer than ten tries take.
func TestP8_EventOutlivesFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var healed atomic.Bool
		dir := t.TempDir()
		s := newSink(func(hookwire.Event, int) error {
			if !healed.Load() {
				return &os.PathError{Op: "write", Path: "/x", Err: syscall.ENOSPC}
			}
			return nil
		})
		e := NewEvents(dir, s, watch.New(slog.New(slog.DiscardHandler)), slog.New(slog.DiscardHandler))
		follow(t, e)
		put(t, dir, "l", "a", time.Now())
		put(t, dir, "l", "b", time.Now().Add(1))
		pause.Poke(e.arrived)
		time.Sleep(time.Hour)
		assert.Len(t, left(t, dir, "events"), 2)
		healed.Store(true)
		time.Sleep(disktest.HealTime)
		assert.Equal(t, []string{"a", "b"}, s.have())
		assert.Empty(t, left(t, dir, "quarantine"))
	})
}
