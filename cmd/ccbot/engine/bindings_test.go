package engine

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/config"
	"ccbot/hooks"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
)

// A ccbot that runs for long is not slowed down by all the agents that have ended since its start.
func TestBindingsOfEndedAreRemovedLater(t *testing.T) {
	table, err := process.NewTable()
	require.NoError(t, err)
	dir, self := t.TempDir(), table.Self()
	write := func(id process.Identity) {
		_, err := hookwire.WriteBinding(dir, hookwire.Binding{Version: hookwire.Version, Boot: id.Boot, PID: id.PID, Start: id.Start, SessionID: uuid.NewString()})
		require.NoError(t, err)
	}
	e := &Engine{Settings: Settings{Config: config.Config{Dir: dir}, Table: table, Log: slog.New(slog.DiscardHandler)}}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- e.pruneBindings(ctx) }()
		synctest.Wait()
		write(self)
		// Another process had the pid.
		write(process.Identity{PID: self.PID, Start: self.Start + 1, Boot: self.Boot})
		time.Sleep(pruneEvery)
		synctest.Wait()
		left, errs := hooks.Bindings(dir)
		assert.Empty(t, errs)
		require.Len(t, left, 1)
		assert.Equal(t, self.Start, left[0].Start)
		cancel()
		assert.ErrorIs(t, <-done, context.Canceled)
	})
}
