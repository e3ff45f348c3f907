package main

import (
	"io"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestHangUpStopsHostRun: a machine of another chat has no settings to read again, so a hang-up
// stops it, with or without a terminal, as SIGTERM does.
func TestHangUpStopsHostRun(t *testing.T) {
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP) // which the tests may ignore, as below nohup
	defer signal.Stop(heard)
	root := commands([]string{"HOME=" + t.TempDir()}, io.Discard, io.Discard)
	cmd, _, err := root.Find([]string{"host", "run"})
	require.NoError(t, err)
	cmd.SetContext(t.Context())
	root.PersistentPreRun(cmd, nil)
	assert.NotSame(t, t.Context(), cmd.Context(), "its context ends with a hang-up")
}
