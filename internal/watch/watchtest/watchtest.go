// Package watchtest runs rooms of package watch in tests.
package watchtest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/internal/watch"
)

// Run runs a room until the test has ended.
func Run(t testing.TB, room *watch.Room) *watch.Room {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- room.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.ErrorIs(t, <-done, context.Canceled)
	})
	return room
}
