package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

// TestP4_OutageLeavesNoMessageUnanswered: messages come in, then the network goes away and comes
// back. After it each has a reaction or an answer, also if ccbot was killed in between.
func TestP4_OutageLeavesNoMessageUnanswered(t *testing.T) {
	t.Parallel()
	outages := make(map[string]func(t *testing.T))
	for _, kind := range []botapi.FaultKind{botapi.FaultResetBefore, botapi.FaultHang, botapi.FaultHTML502} {
		for name, killed := range map[string]bool{"": false, " and a kill": true} {
			outages[string(kind)+name] = func(t *testing.T) { outageOf(t, kind, killed) }
		}
	}
	atOnce(t, outages)
}

func outageOf(t *testing.T, kind botapi.FaultKind, killed bool) {
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.say("slow 600")
	w.until("it works", func() bool { return w.begun("work", "slow 600") && w.record("work").Phase == "working" })
	w.drained()
	w.api.InjectFaults(func(c botapi.Call) botapi.Fault {
		if strings.EqualFold(c.Method, "getUpdates") || strings.EqualFold(c.Method, "getMe") {
			return botapi.Fault{}
		}
		return botapi.Fault{Kind: kind}
	})
	held := []int{w.say("say one"), w.say("say two"), w.say("say three")}
	commands := []int{w.say("/list"), w.say("/kill none")}
	w.until("all are accepted", func() bool {
		waiting, err := filepath.Glob(filepath.Join(w.state, "outbox", "*.json"))
		return err == nil && len(w.record("work").Prompts) == len(held) && len(waiting) >= len(commands)
	})
	if killed {
		w.kill9()
		w.start()
	}
	w.api.InjectFaults(nil)
	for _, id := range held {
		w.until("message "+itoa(id)+" has a reaction", func() bool { return w.marked(id) })
	}
	w.hear(commands[0], "work")
	w.hear(commands[1], "none")
	assert.Equal(t, len(held), len(w.record("work").Prompts), "nothing was typed meanwhile")
	w.stop()
}

// marked reports whether the bot has put a reaction on a message.
func (w *world) marked(id int) bool {
	all := w.api.Messages(w.chat())
	at := slices.IndexFunc(all, func(m botapi.Message) bool { return m.ID == id })
	require.GreaterOrEqual(w.t, at, 0)
	return len(all[at].Reactions) > 0
}
