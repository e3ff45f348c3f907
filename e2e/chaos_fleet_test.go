package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The events of a run with several machines.
const (
	hostKill = "SIGKILLs of a machine's ccbot"
	hubKill  = "SIGKILLs of the hub"
	hubLoss  = "SIGKILLs of the hub, and its disk lost"
	hubHang  = "times that the hub hangs, so that nothing comes through"
	hostHang = "times that a machine hangs"
)

// longestHang is more than the time after which a machine is away.
const longestHang = 12 * time.Second

// chaosHost is another machine of a run.
type chaosHost struct {
	*stage
	name    string
	outages *outages
}

// outages are the deaths and hangs of a machine's ccbot, or of the hub.
type outages struct {
	kill, start func()
	process     func() *os.Process // the present one
	back        time.Time          // when the program works again; zero: it works
	dead        bool               // if it does not work: it was killed, and does not hang
}

// TestP4_ChaosOfMachinesLosesNothing is TestP4_ChaosLosesNothing with sessions on other machines,
// whose programs and whose hub are killed and hang as well. Hooks of agents that ask for permission
// are killed; each request is answered. With CCBOT_CHAOS_REPORT it runs the long form and writes
// that document.
func TestP4_ChaosOfMachinesLosesNothing(t *testing.T) {
	size, report := shortChaos(), os.Getenv(reliabilityEnv)
	size.machines, size.upsets, size.kills = 1, 1, 2
	if report == "" {
		t.Parallel()
	} else {
		size = longChaos(t)
		size.machines = 2
	}
	c := newChaos(t, size, chaosSeed(t, report != ""))
	t.Logf("%s=%d", seedEnv, c.seed)
	c.begin()
	c.untilReady()
	c.makeHosts()
	c.run(report, "The last run with three machines")
}

// makeHosts lets the further machines join, and spreads the sessions over all machines.
func (c *chaos) makeHosts() {
	c.t.Helper()
	term := c.newTerminal()
	hub, pin := c.newHub()
	term.says("ccbot host hub " + hub.address + " " + pin + " > " + hub.dir + "/trust.json")
	hub.start()
	c.hub = &outages{kill: hub.kill, start: hub.start, process: func() *os.Process { return hub.cmd.Process }}
	c.store = filepath.Join(hub.dir, "store")
	for i := range c.size.machines {
		name := string(rune('B' + i))
		there := c.newHost()
		there.ccbot, there.chats = c.program, c.state
		c.joinsChat(term, there, name)
		there.startHost()
		c.reached(name)
		c.hosts = append(c.hosts, &chaosHost{stage: &stage{world: there}, name: name, outages: &outages{kill: there.kill9,
			start: func() { there.run([]string{"host", "run"}) }, process: func() *os.Process { return there.bot.cmd.Process }}})
	}
	for i, s := range c.sessions {
		if n := i % (c.size.machines + 1); n > 0 {
			s.host = c.hosts[n-1]
		}
	}
}

// worlds are all machines.
func (c *chaos) worlds() []*world {
	all := []*world{c.world}
	for _, h := range c.hosts {
		all = append(all, h.world)
	}
	return all
}

// glob returns the files of a pattern below Claude's folder on all machines.
func (c *chaos) glob(pattern ...string) (all []string) {
	c.t.Helper()
	for _, w := range c.worlds() {
		files, err := filepath.Glob(filepath.Join(append([]string{w.claude}, pattern...)...))
		require.NoError(c.t, err)
		all = append(all, files...)
	}
	return all
}

// upsetHosts makes an event at a machine or the hub. It returns false if it has to wait.
func (c *chaos) upsetHosts(what string) bool {
	c.t.Helper()
	switch what {
	case hostKill, hostHang:
		return c.takeDown(c.hosts[c.rng.IntN(len(c.hosts))].outages, what == hostKill)
	case hubLoss:
		if !c.takeDown(c.hub, true) {
			return false
		}
		require.NoError(c.t, os.RemoveAll(c.store))
		return true
	}
	return c.takeDown(c.hub, what == hubKill)
}

// takeDown kills a program, or lets it hang. It returns false if the program does not work.
func (c *chaos) takeDown(p *outages, kills bool) bool {
	c.t.Helper()
	if !p.back.IsZero() {
		return false
	}
	longest := longestHang
	if p.dead = kills; kills {
		p.kill()
		c.deaths, longest = append(c.deaths, time.Now()), 2*time.Second
	} else {
		require.NoError(c.t, p.process().Signal(syscall.SIGSTOP))
	}
	p.back = time.Now().Add(c.upTo(longest))
	return true
}

// revive starts and continues what is due, and reports whether all programs work.
func (c *chaos) revive() bool {
	c.t.Helper()
	var all []*outages
	for _, h := range c.hosts {
		if h.outages.back.IsZero() && h.bot.over() {
			c.t.Fatalf("the ccbot of %s has ended by itself: %s", h.name, lastKB(h.bot.log.String(), 2))
		}
		all = append(all, h.outages)
	}
	if c.hub != nil {
		all = append(all, c.hub)
	}
	works := true
	for _, p := range all {
		switch {
		case p.back.IsZero():
			continue
		case time.Now().Before(p.back):
			works = false
			continue
		case p.dead:
			p.start()
		default:
			require.NoError(c.t, p.process().Signal(syscall.SIGCONT))
		}
		p.back = time.Time{}
	}
	return works
}

// stopHosts ends the machines as service managers would.
func (c *chaos) stopHosts() {
	c.t.Helper()
	for _, h := range c.hosts {
		h.stop()
	}
}

// quietHosts reports whether nothing is left to do on the other machines.
func (c *chaos) quietHosts() bool {
	return !slices.ContainsFunc(c.hosts, func(h *chaosHost) bool { return !h.quiet() })
}

// explainHosts logs what is unfinished on the other machines.
func (c *chaos) explainHosts() {
	c.t.Helper()
	for _, h := range c.hosts {
		for _, r := range h.records() {
			size := int64(0)
			if info, err := os.Stat(h.transcriptPath(r.AgentSessionID.String())); err == nil {
				size = info.Size()
			}
			c.t.Logf("%s: session %s, %s, %s: it rests: %t; its agent is %s; prompts %q; of %d bytes it has read %d, and the chat has %+v", h.name, r.Name,
				r.State, r.Phase, h.rests(r), h.table.Liveness(r.Agent()), r.Prompts, size, r.Progress.Offset, h.shownOf(r))
		}
		files, _ := filepath.Glob(h.state + "/prompts/*.json") // the pattern is well formed
		for _, file := range files {
			data, err := os.ReadFile(file)
			c.t.Log(file, err, clipped(string(data)))
		}
		c.t.Logf("the end of the log of %s:\n%s", h.name, lastKB(h.bot.log.String(), 6))
	}
}

// of names the address of a folder on the session's machine.
func (s *chaosChat) of(dir string) string {
	if s.host == nil {
		return dir
	}
	return fmt.Sprintf("%s:%s", s.host.name, dir)
}
