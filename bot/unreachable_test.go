package bot_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/bot/ask"
	"ccbot/bot/chat/chattest"
	"ccbot/fleet/wire"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// TestP6_UnreachableMachineKeepsRequests: a machine that does not answer has not reported that a
// hook has left.
func TestP6_UnreachableMachineKeepsRequests(t *testing.T) {
	chattest.RunsRemote(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		w.Link.Set(wire.Faults{Unreachable: true})
		w.Later(3 * chattest.Round)
		assert.Equal(t, ask.StageOpen, w.RequestState(t, q).Stage)
		assert.True(t, w.Has(w.Shows(t, w.Message(t, q)), i18n.AskAllow))

		w.TapsOn(t, chattest.Alice, q, i18n.AskAllow)
		assert.Equal(t, ask.StageSent, w.RequestState(t, q).Stage, "the decision waits for the machine")
		w.Link.Set(wire.Faults{})
		w.Later(chattest.Round)
		assert.Len(t, w.Relay.Done(), 1)
	})
}

// TestP6_UnreachableMachineKeepsUnseenRequests is about a request whose message is not sent yet.
func TestP6_UnreachableMachineKeepsUnseenRequests(t *testing.T) {
	chattest.RunsRemote(t, func(t *testing.T, w *chattest.World) {
		goOn := w.HeldUp(t)
		q := w.AsksFor(t, w.NewCurrentSession(t, "api", session.Running), "Bash", chattest.Bash)
		w.Link.Set(wire.Faults{Unreachable: true})
		w.Later(3 * chattest.Round)
		w.Link.Set(wire.Faults{})
		goOn()
		assert.Equal(t, ask.StageOpen, w.RequestState(t, q).Stage)
		assert.True(t, w.Has(w.Shows(t, w.Message(t, q)), i18n.AskAllow))
	})
}
