package hub

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/fleet/rights"
)

// restarts is a log that says how many errors are left when the server was started again.
type restarts struct {
	server.Logger
	hub  *Hub
	left chan int
}

func (r *restarts) Errorf(string, ...any) {}

func (r *restarts) Warnf(format string, args ...any) {
	if strings.Contains(fmt.Sprintf(format, args...), "started again") {
		r.left <- len(r.hub.broken)
	}
}

// TestP5_OneFaultStartsTheServerOnce: each stream reports the fault, the second one after the first one was heard.
func TestP5_OneFaultStartsTheServerOnce(t *testing.T) {
	keys, err := rights.NewKeys()
	require.NoError(t, err)
	trust, err := keys.Trust()
	require.NoError(t, err)
	const fault = "Critical write error: %v"
	log := &restarts{left: make(chan int, 1)}
	var h *Hub
	h, err = Open(Settings{Folder: t.TempDir(), Listen: "127.0.0.1:0", Trust: trust, MaxStore: rights.MaxDisk, Log: log,
		HasRoom: func() bool { h.Errorf(fault, "no space left on device"); return true }})
	require.NoError(t, err)
	log.hub = h
	defer h.Close()
	h.Errorf(fault, "no space left on device")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- h.Run(ctx) }()
	assert.Zero(t, <-log.left, "the server would be started once more")
	cancel()
	require.NoError(t, <-ended)
}
