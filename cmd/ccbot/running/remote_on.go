//go:build failpoints

package running

import (
	"context"

	"github.com/caarlos0/env/v11"

	ports "ccbot/bot/machine"
	fleetwire "ccbot/fleet/wire"
)

// isRemote reports whether the chat reaches its machine through package wire, as if the machine
// were another one. CCBOT_WIRE=loop makes such a program for `make test-wire`.
func isRemote(environ []string) bool { return env.ToMap(environ)["CCBOT_WIRE"] == "loop" }

// reached returns the machine as the chat reaches it.
func reached(environ []string, m *ports.Machine) *ports.Machine {
	if isRemote(environ) {
		m, _ = fleetwire.Loopback(context.Background(), m) // of calls without a context, also at the end
	}
	return m
}

// reader returns the chat as the machine reports news to it.
func reader(environ []string, chat fleetwire.Chat) fleetwire.Chat {
	if !isRemote(environ) {
		return chat
	}
	up := &fleetwire.Loop{Answer: fleetwire.Reader{Chat: chat}.Answer}
	return &fleetwire.Client{From: "machine", To: "chat", Transport: up.Call}
}
