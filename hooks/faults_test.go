package hooks

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/disk/disktest"
	"ccbot/internal/hookwire"
	"ccbot/internal/pause"
	"ccbot/internal/spool"
	"ccbot/internal/watch"
)

// faultyEvents gets events of two launches and a file that is not an event.
type faultyEvents struct {
	dir string
	s   *sink
	e   *Events
}

func (f *faultyEvents) Begin(t *testing.T) string {
	f.dir, f.s = t.TempDir(), newSink(nil)
	f.e = NewEvents(f.dir, f.s, watch.New(slog.New(slog.DiscardHandler)), slog.New(slog.DiscardHandler))
	return f.dir
}

// follow runs e, without a watcher, until the test has ended.
func follow(t *testing.T, e *Events) {
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
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
	follow(t, f.e)
}

func (f *faultyEvents) Check(t *testing.T) {
	assert.ElementsMatch(t, []string{"0", "1", "2"}, f.s.have())
	assert.NotContains(t, left(t, f.dir, "events"), "odd.json")
	assert.Contains(t, left(t, f.dir, "quarantine"), "events-odd.json")
}

// turnsOfFiles reads and removes files of hooks, and bounds the rejected events.
func turnsOfFiles() *disktest.Turns {
	var dir string
	var e *Events
	ended, waits := uuid.New(), uuid.New()
	binding := hookwire.Binding{Version: 1, Boot: "ab", PID: 5, Start: 7, SessionID: sessionID}
	inQuarantine := func(name string) string { return filepath.Join(dir, "quarantine", name) }
	return &disktest.Turns{
		Prepare: func(t *testing.T) string {
			dir = t.TempDir()
			e = NewEvents(dir, newSink(nil), watch.New(slog.New(slog.DiscardHandler)), slog.New(slog.DiscardHandler))
			put(t, dir, waits.String(), "x", time.Now())
			_, err := hookwire.WriteBinding(dir, binding)
			require.NoError(t, err)
			_, err = hookwire.WriteStatus(dir, hookwire.Status{Version: hookwire.Version, Launch: ended.String(), SessionID: sessionID, At: time.Now()})
			require.NoError(t, err)
			putFile(t, inQuarantine("events-large.json"), "x")
			require.NoError(t, os.Truncate(inQuarantine("events-large.json"), 2*maxRejectedBytes))
			putFile(t, inQuarantine("events-large.json"+spool.ReasonSuffix), rejectedReason+"x")
			return dir
		},
		Turn: disktest.InOrder(
			func() error {
				unheard, err := HasPendingEvents(dir, waits)
				return cmp.Or(err, unless(unheard, "the event of a launch is unheard"))
			},
			func() error {
				all, errs := Bindings(dir)
				return errors.Join(append(errs, unless(len(all) == 1, "there is one binding"))...)
			},
			func() error { _, err := Status(dir, ended); return err },
			func() error {
				err := PruneBindings(dir, func(hookwire.Binding) bool { return true })
				_, there := os.Stat(filepath.Join(dir, hookwire.BindingsFolder, binding.Name()))
				return cmp.Or(err, unless(there != nil, "a binding is left"))
			},
			func() error {
				e.mu.Lock()
				defer e.mu.Unlock()
				err := e.boundLocked()
				_, there := os.Stat(inQuarantine("events-large.json"))
				return cmp.Or(err, unless(there != nil, "a large file is left"))
			}),
		Done: func(t *testing.T) {
			assert.Empty(t, left(t, dir, hookwire.BindingsFolder))
			assert.NoFileExists(t, inQuarantine("events-large.json"))
		},
	}
}

func unless(ok bool, otherwise string) error {
	if ok {
		return nil
	}
	return errors.New(otherwise)
}

func TestP8_LaunchesOutliveFaults(t *testing.T) {
	disktest.Run(t, func() disktest.Scenario { return turnsOfFiles() })
}

func TestP8_EventsOutliveFaults(t *testing.T) {
	disktest.Run(t, func() disktest.Scenario { return &faultyEvents{} })
}

// TestP8_EventOutlivesFullDisk: the sink cannot save what an event changes, for longer than ten
// tries take.
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
