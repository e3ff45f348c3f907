// Package botapitest starts a stand-in of the Bot API for one test and promises that nothing of it
// is left when the test ends.
package botapitest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

// Start runs a stand-in on a free port until the test ends.
func Start(t testing.TB, opt botapi.Options) *botapi.Server {
	t.Helper()
	srv := botapi.New(opt)
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

// Wait waits up to two minutes for a message of the chat that matches.
func Wait(t testing.TB, srv *botapi.Server, chatID int64, match func(botapi.Message) bool) botapi.Message {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	m, err := srv.WaitMessage(ctx, chatID, match)
	require.NoError(t, err)
	return m
}
