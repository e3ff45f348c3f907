package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/hookwire"
)

// TestRemovedSocketIsMadeAgain removes the socket of a running bot, which makes it again.
func TestRemovedSocketIsMadeAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.start()
	path := filepath.Join(w.state, hookwire.SocketName)
	require.NoError(t, os.Remove(path))
	w.until("the socket is there again", func() bool { return strings.Contains(b.log.String(), "msg=control_socket_made_again") })
	w.open("work", w.dir)
	w.hear(w.say("say still here"), "still here")
	assert.FileExists(t, path)
	w.stop()
	assert.NoFileExists(t, path)
}
