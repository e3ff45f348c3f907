// Package sandboxtest starts a sandbox for one test and promises that nothing of it is left when the test ends.
package sandboxtest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ccbot/internal/sandbox"
)

// Start runs a sandbox on a free port until the test ends.
func Start(t testing.TB, opt sandbox.Options) *sandbox.Server {
	t.Helper()
	srv := sandbox.New(opt)
	l, err := srv.Listen()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return srv
}

// Wait waits up to 20 s for a message of the chat that matches.
func Wait(t testing.TB, srv *sandbox.Server, chatID int64, match func(sandbox.Message) bool) sandbox.Message {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	m, err := srv.WaitMessage(ctx, chatID, match)
	require.NoError(t, err)
	return m
}
