//go:build linux

package e2e

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"ccbot/agent/agenttest"
	"ccbot/agent/codex/rollout"
	"ccbot/agent/codex/writerlock"
	"ccbot/agent/jsonl"
	"ccbot/e2e/realcodex"
	"ccbot/internal/process"
	"ccbot/port/talk"
)

// TestRealAgents_Codex runs the conformance suite with the real Codex.
func TestRealAgents_Codex(t *testing.T) {
	t.Parallel()
	const inShell = "ccbot cannot drive a Codex that it has not started"
	cli := agenttest.Subject{Name: "Codex, real", Asks: "wants to run a command", Yes: "Allow", Delivers: true,
		Lacks: map[string]string{
			"given id":    "it chooses the id of its conversation",
			"draft":       "a prompt does not pass its box",
			"queue":       "Enter in its terminal joins a text to the turn that runs",
			"end by TERM": inShell, "end by KILL": inShell,
		},
		New: func(t *testing.T) agenttest.World {
			w := newCodexWorld(t)
			return &conformingCodex{&conforming{world: w}, filepath.Join(w.state, "..", "codex")}
		}}
	t.Logf("\n%s", agenttest.Table(agenttest.Run(t, cli)))
}

// conformingCodex is a world whose sessions are of Codex.
type conformingCodex struct {
	*conforming
	home string
}

func (c *conformingCodex) Open(name string) int {
	return c.say("/new " + name + " " + c.dir + " --agent codex")
}

// holders returns the processes that hold the lock of a conversation.
func (c *conformingCodex) holders(conversation string) (all []process.Process) {
	held, err := writerlock.Home(c.home).Held()
	require.NoError(c.t, err)
	for pid, ids := range held {
		// A holder that has just ended writes no more.
		if p, err := c.table.Inspect(pid); err == nil && slices.Contains(ids, uuid.MustParse(conversation)) {
			all = append(all, p)
		}
	}
	return all
}

// Writers returns the holders of a conversation's lock. ccbot-codex stands for its server.
func (c *conformingCodex) Writers(conversation string) (all []process.Identity) {
	for _, p := range c.holders(conversation) {
		parent, err := c.table.Inspect(p.PPID)
		if err == nil && filepath.Base(parent.Args[0]) == "ccbot-codex" {
			p = parent
		}
		all = append(all, p.Identity)
	}
	return all
}

func (c *conformingCodex) Resume(conversation string, _ bool) process.Identity {
	d := c.newPersonTerminal("SCRIPTED_KEY=dummy", realcodex.NoNetwork)
	_, writer := d.open(realcodex.Require(c.t), "resume", conversation, "--no-daemon", "-C", c.dir)
	c.until("the Codex of a person writes", func() bool { return len(c.holders(conversation)) == 1 })
	return writer
}

// Received counts the prompts with a text in all rollouts.
func (c *conformingCodex) Received(text string) (n int) {
	files, err := filepath.Glob(filepath.Join(c.home, "sessions", "*", "*", "*", "*.jsonl"))
	require.NoError(c.t, err)
	for _, file := range files {
		r := rollout.New(c.home).Open(talk.Cursor{Path: file})
		for {
			item, ok, err := r.Next()
			require.NoError(c.t, err)
			if !ok {
				break
			}
			if item.Kind == jsonl.UserPrompt && item.Text == text {
				n++
			}
		}
		require.NoError(c.t, r.Close())
	}
	return n
}
