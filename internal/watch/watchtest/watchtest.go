// Package watchtest runs Watchers of package watch in tests.
package watchtest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/internal/watch"
)

// Run runs a watcher until the test has ended.
func Run(t testing.TB, watcher *watch.Watcher) *watch.Watcher {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- watcher.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.ErrorIs(t, <-done, context.Canceled)
	})
	return watcher
}
