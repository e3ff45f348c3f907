package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"ccbot/agent/agenttest"
	"ccbot/e2e/realclaude"
	"ccbot/internal/longtest"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/try/botapi"
)

// conforming is a world as the conformance suite of agents uses it.
type conforming struct {
	*world
	resume   string          // the argument before the id of a conversation
	desk     *personTerminal // on ccbot's tmux server
	received func(text string) int
}

func (c *conforming) As(t *testing.T, f func()) {
	whole := c.t
	c.t = t
	defer func() { c.t = whole }()
	f()
}

func (c *conforming) Start(env ...string) { c.start(env...) }
func (c *conforming) Stop()               { c.stop() }
func (c *conforming) Crash()              { c.kill9() }

func (c *conforming) Call(line string) func() (int, string, string) {
	return c.newTerminal().call("ccbot " + line).end
}

func (c *conforming) Open(name string) int               { return c.say("/new " + name + " " + c.dir) }
func (c *conforming) Say(text string) int                { return c.say(text) }
func (c *conforming) WaitFor(after int, text string) int { return c.hear(after, text).ID }
func (c *conforming) Mark() int                          { return c.lastID() }
func (c *conforming) Record(name string) session.Record  { return c.record(name) }

// Count leaves out the screen that a resume shows if it takes long: it has the conversation.
func (c *conforming) Count(text string) int {
	return len(c.after(0, func(m botapi.Message) bool {
		return strings.Contains(m.Text, text) && !strings.Contains(m.Text, " is still starting after ")
	}))
}

func (c *conforming) Tap(after int, label string) int {
	m := c.offered(after, label)
	c.tap(m, label)
	return m.ID
}

func (c *conforming) Press(name string, keys ...string) {
	c.tmux(append([]string{"send-keys", "-t", "=ccbot:=" + name}, keys...)...)
}

func (c *conforming) Type(name, text string) {
	c.tmux("send-keys", "-t", "=ccbot:="+name, "-l", "--", text)
}

func (c *conforming) Screen(name string) string {
	return c.tmux("capture-pane", "-p", "-t", "=ccbot:="+name)
}

func (c *conforming) Resume(conversation string, shell bool) process.Identity {
	if !shell {
		return c.newPersonTerminal().agent(c.resume, conversation)
	}
	if c.desk == nil {
		c.desk = c.ccbotTerminal()
	}
	pane, _ := c.desk.shell()
	c.desk.enter(pane, c.agentPath()+" "+c.resume+" "+conversation)
	var writers []process.Identity
	c.until("the agent in the shell writes", func() bool { writers = c.writersOf(conversation); return len(writers) == 1 })
	c.endLater(writers[0])
	return writers[0]
}

func (c *conforming) Suspend(id process.Identity) {
	require.NoError(c.t, syscall.Kill(id.PID, syscall.SIGSTOP))
}

func (c *conforming) Writers(conversation string) []process.Identity {
	return c.writersOf(conversation)
}
func (c *conforming) Alive(id process.Identity) bool    { return c.alive(id) }
func (c *conforming) Received(text string) int          { return c.received(text) }
func (c *conforming) Until(what string, ok func() bool) { c.until(what, ok) }

func (c *conforming) Args(id process.Identity) []string {
	p, err := c.table.Inspect(id.PID)
	require.NoError(c.t, err)
	return p.Args
}

// TestAgents runs the conformance suite with the demo agent and with the toy agent.
func TestAgents(t *testing.T) {
	longtest.Mark(t, "runs the whole program for each case of the conformance suite")
	t.Parallel()
	demo := claudeCode("Claude Code, demo", func(t *testing.T) agenttest.World { return demoWorld(t) })
	toy := agenttest.Subject{Name: "toy", Asks: "Do you want to proceed?", Yes: "Yes",
		Lacks: map[string]string{"given id": "it chooses the id of its conversation"},
		New: func(t *testing.T) agenttest.World {
			c := demoWorld(t)
			self, err := os.Executable()
			require.NoError(t, err)
			link := filepath.Join(filepath.Dir(c.agentPath()), agenttest.ToyName)
			require.NoError(t, os.Symlink(self, link))
			c.env, c.resume = append(c.env, "CLAUDE_COMMAND="+link), "resume"
			return c
		}}
	subjects := []agenttest.Subject{demo, toy}
	columns := make([]*agenttest.Column, len(subjects))
	t.Run("of", func(t *testing.T) { // ends when all have ended
		for i, s := range subjects {
			t.Run(s.Name, func(t *testing.T) {
				t.Parallel()
				columns[i] = agenttest.Run(t, s)
			})
		}
	})
	t.Logf("\n%s", agenttest.Table(columns...))
}

// demoWorld is a world whose agent writes a log of what it reads.
func demoWorld(t *testing.T) *conforming {
	w := newWorld(t)
	return &conforming{world: w, resume: "--resume", received: func(text string) (n int) {
		for _, one := range w.received() {
			if one == text {
				n++
			}
		}
		return n
	}}
}

// TestRealAgents runs the conformance suite with the real CLI.
func TestRealAgents(t *testing.T) {
	t.Parallel()
	realclaude.Require(t)
	cli := claudeCode("Claude Code, real", func(t *testing.T) agenttest.World {
		w, _ := newRealWorld(t)
		return &conforming{world: w, resume: "--resume", received: w.saidTo}
	})
	t.Logf("\n%s", agenttest.Table(agenttest.Run(t, cli)))
}

func claudeCode(name string, world func(*testing.T) agenttest.World) agenttest.Subject {
	return agenttest.Subject{Name: name, Asks: "wants to run a command", Yes: "Allow", Renew: "/clear", New: world}
}
