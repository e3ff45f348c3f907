package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/cmd/ccbot/running"
)

// TestP9_RemovalNamesWhatIsLeft: a server that is not the chat's own disconnects a removed machine
// only after its operator has signed the account again.
func TestP9_RemovalNamesWhatIsLeft(t *testing.T) {
	assert.Equal(t, "B was removed", removedText(running.Host{Name: "B"}))
	text := removedText(running.Host{Name: "B", Server: "tls://a:1,tls://b:1"})
	assert.Contains(t, text, "stays connected")
	assert.Contains(t, text, "\n\nccbot host hub tls://a:1,tls://b:1 > account.jwt\nnsc import account --overwrite --file account.jwt\nnsc push")
}
