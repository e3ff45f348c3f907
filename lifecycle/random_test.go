package lifecycle

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"ccbot/agent/claude/presence"
	"ccbot/internal/process"
	"ccbot/internal/process/tabletest"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/port"
	"ccbot/tmux/tmuxtest"
)

// sort is the relation of a process to the conversation under test, written here independently of
// the code that finds it out.
type sort struct {
	name   string
	argv   func(id uuid.UUID) []string
	says   func(id uuid.UUID) uuid.UUID // its presence file; nil: it has none
	change func(p *process.Process)

	writes  bool // it writes the conversation
	unclear bool // cannot be found out
	named   bool // its command line names the conversation
	guarded bool // it may not be ended, whoever asks
}

func thisOne(id uuid.UUID) uuid.UUID { return id }
func another(uuid.UUID) uuid.UUID    { return uuid.MustParse("11111111-1111-4111-8111-111111111111") }

func line(words ...string) func(uuid.UUID) []string {
	return func(id uuid.UUID) []string {
		argv := slices.Clone(words)
		for i, word := range argv {
			if word == "ID" {
				argv[i] = id.String()
			}
		}
		return argv
	}
}

var sorts = []sort{
	{name: "resume", argv: line("claude", "--resume", "ID"), writes: true, named: true},
	{name: "resume, says so", argv: line("claude", "-r", "ID"), says: thisOne, writes: true, named: true},
	{name: "session-id", argv: line("node", "/opt/claude", "--session-id", "ID"), writes: true, named: true},
	{name: "moved to it", argv: line("claude"), says: thisOne, writes: true},
	{name: "moved to it from another", argv: line("claude", "--resume", another(uuid.Nil).String()), says: thisOne, writes: true},
	{name: "moved away", argv: line("claude", "--resume", "ID"), says: another},
	{name: "contradicts itself", argv: line("claude", "--resume", "ID"), says: thisOne, unclear: true, named: true},
	{name: "another user's", argv: line("claude", "--resume", "ID"), change: func(p *process.Process) { p.UID = 0 }, writes: true, named: true, guarded: true},
	{name: "no agent", argv: line("vim", "ID"), says: thisOne, writes: true, guarded: true},
	{name: "another conversation", argv: line("claude", "--resume", another(uuid.Nil).String())},
	{name: "fork", argv: line("claude", "--resume", "ID", "--fork-session")},
	{name: "shell", argv: line("bash", "-c", "claude --resume ID")},
	{name: "reader", argv: line("tail", "-f", "ID")},
	{name: "tool of the agent", argv: line("sleep", "1000")},
}

// guest is one process of a random world.
type guest struct {
	sort
	before int         // comes before this act
	yields process.How // the step that ends it
	told   bool        // as a second writer, in an earlier life
	bound  bool        // by the record, in an earlier life
	tool   bool        // below the session's agent

	id     process.Identity
	came   bool
	late   bool // came after the session's end or its request
	parent process.Identity
}

var acts = []string{"archive", "archive, killed", "restore", "take over", "wait", "restart", "agent ends", "end leftovers"}

// plan is a random world and what is done to it.
type plan struct {
	guests []*guest
	acts   []string
	points []string // failpoints of ccbot's deaths, by act
	yields process.How
}

func anyPlan(t *rapid.T) (p plan) {
	ends := []process.How{process.HowHangUp, process.HowTerm, process.HowKill, process.HowTerm, tabletest.Never}
	p.yields = rapid.SampledFrom(ends).Draw(t, "agent yields to")
	for range rapid.IntRange(1, 4).Draw(t, "acts") {
		p.acts = append(p.acts, rapid.SampledFrom(acts).Draw(t, "act"))
		p.points = append(p.points, rapid.SampledFrom([]string{"stop-recorded", "ended", "news-saved", "news-told", "news-acknowledged"}).Draw(t, "point"))
	}
	for range rapid.IntRange(0, 4).Draw(t, "guests") {
		g := &guest{sort: rapid.SampledFrom(sorts).Draw(t, "sort"), before: rapid.IntRange(0, len(p.acts)-1).Draw(t, "before"),
			yields: rapid.SampledFrom(ends).Draw(t, "yields to")}
		g.tool = g.name == "tool of the agent"
		switch rapid.IntRange(0, 5).Draw(t, "known") {
		case 0:
			g.told = !g.tool
		case 1:
			g.bound = g.before == 0 && !g.tool && g.name != "no agent" // a process that it bound counts as an agent
		}
		p.guests = append(p.guests, g)
	}
	return p
}

func (p plan) String() string {
	text := fmt.Sprintf("the agent yields to %s; %v %v", p.yields, p.acts, p.points)
	for _, g := range p.guests {
		text += fmt.Sprintf("\n  %d: %s before act %d, yields to %s, told %t, bound %t, late %t", g.id.PID, g.name, g.before, g.yields, g.told, g.bound, g.late)
	}
	return text
}

// trial is a plan under way, with what must hold.
type trial struct {
	*world
	plan
	r      session.Record
	other  *agent // of a second session
	over   bool   // the session's end was requested, or happened
	who    []process.Identity
	judged sync.Mutex // several processes are ended at the same time
	killed []process.Identity
	wrong  []string
}

// For any processes and acts: no process outside the proven set is signalled, an archived session
// is dead, and a restored session is the only writer.
func TestP2_RandomWorlds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := anyPlan(rt)
		base, err := os.MkdirTemp("", "lifecycle")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(base)
		var wrong []string
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, base)
			w.run()
			wrong = (&trial{world: w, plan: p}).run()
		})
		if len(wrong) > 0 {
			rt.Fatalf("%s\n%v", p, wrong)
		}
	})
}

func (x *trial) complain(format string, args ...any) {
	x.wrong = append(x.wrong, fmt.Sprintf(format, args...))
}

func (x *trial) run() []string {
	_, x.other = x.started()
	var a *agent
	x.r, a = x.started()
	x.write(x.r, userLine("hello"))
	x.processes.YieldsTo(a.id.PID, x.yields)
	x.processes.OnStep(x.judgeAct)
	for i, act := range x.acts {
		x.come(i)
		x.act(act, x.points[i])
		if len(x.wrong) > 0 {
			return append(x.wrong, fmt.Sprintf("at act %d, %s, state %s", i, act, x.get(x.r.ID).State))
		}
	}
	return nil
}

// come starts the guests of one act.
func (x *trial) come(i int) {
	for n, g := range x.guests {
		if g.before != i {
			continue
		}
		pid, id := 700+n, x.r.AgentSessionID
		changes := []func(*process.Process){}
		if g.change != nil {
			changes = append(changes, g.change)
		}
		if b := x.get(x.r.ID).Binding; g.tool && b != nil {
			g.parent = b.Agent
			changes = append(changes, tabletest.Below(b.Agent.PID))
		}
		g.id, g.came, g.late = x.processes.StartNow(pid, g.argv(id), changes...), true, x.over
		x.processes.YieldsTo(pid, g.yields)
		if g.says != nil {
			files, _ := x.presences.added()
			x.presences.claim(append(files, presence.File{PID: pid, ProcStart: g.id.Start, SessionID: g.says(id)})...)
		}
		if g.unclear {
			x.bindings.claim(g.id, another(id))
		}
		x.edit(x.r.ID, func(r *session.Record) {
			if g.told {
				r.SecondWriters = append(r.SecondWriters, g.id)
			}
			if g.bound {
				r.Bound = append(r.Bound, g.id)
			}
		})
	}
	x.pass(time.Second)
}

func (x *trial) act(act, point string) {
	was := x.get(x.r.ID)
	switch act {
	case "archive":
		_ = x.Archive(x.ctx, x.r.ID, session.Archived, port.Cause{Why: "asked"})
		x.over = true
	case "archive, killed":
		x.restart()
		x.order.onPoint(func(name string) {
			if name == point {
				panic("killed")
			}
		})
		_ = x.Archive(x.ctx, x.r.ID, session.Archived, port.Cause{Why: "asked"})
		x.order.onPoint(nil)
		x.over = true
		x.restart()
		x.comeBack()
	case "restore":
		x.restored()
	case "take over":
		x.takeOver()
	case "end leftovers":
		_, _ = x.EndLeftovers(x.ctx, x.r.ID, testRule)
	case "wait":
		x.pass(3 * time.Hour)
	case "restart":
		x.restart()
		x.comeBack()
	case "agent ends":
		if was.State == session.Running && x.processes.Alive(was.Binding.Agent) {
			x.tmux.die(x.tmux.agentOf(was), tmuxtest.Exit{})
			x.over = true
		}
	}
	x.pass(time.Second)
	x.check(was.State)
}

func (x *trial) restored() {
	back, err := x.restoreIt(x.r.ID)
	if err != nil {
		return
	}
	for _, g := range x.guests {
		if g.came && x.processes.Alive(g.id) && (g.writes || g.unclear || g.bound) {
			x.complain("%s %d lives beside a restored session", g.name, g.id.PID)
		}
		g.late = false
	}
	if writers := x.writing(back.AgentSessionID); len(writers) != 1 || writers[0] != back.Binding.Agent {
		x.complain("it is written by %v", writers)
	}
	x.over = false
	x.report(back)
	x.pass(time.Second)
}

func (x *trial) takeOver() {
	all, err := x.Writers(x.ctx, x.r.ID)
	if err != nil {
		x.complain("no writers: %v", err)
	}
	for _, one := range all {
		for _, g := range x.guests {
			g.told = g.told || g.came && g.id == one.Identity // a shown process is reported
		}
		if one.Endable() {
			x.who = append(x.who, one.Identity)
		}
	}
	_, _ = x.EndWriters(x.ctx, x.r.ID, x.who)
	for _, g := range x.guests {
		if slices.Contains(x.who, g.id) && x.processes.Alive(g.id) && g.yields != tabletest.Never {
			x.complain("%s %d was not taken over", g.name, g.id.PID)
		}
	}
	x.who = nil
}

// judgeAct is called right before each hang-up and signal.
func (x *trial) judgeAct(id process.Identity, how process.How) {
	x.judged.Lock()
	defer x.judged.Unlock()
	defer func() {
		if how == process.HowKill {
			x.killed = append(x.killed, id)
		}
	}()
	i := slices.IndexFunc(x.guests, func(g *guest) bool { return g.came && g.id == id })
	if i < 0 {
		if a := x.tmux.byPID(id.PID); a == nil || a == x.other || a.id != id {
			x.complain("%d is a stranger, and got %s", id.PID, how)
		}
		return
	}
	g := x.guests[i]
	switch {
	case g.guarded:
	case g.tool && slices.Contains(x.killed, g.parent):
		return
	case g.bound:
		return
	case g.unclear:
	case slices.Contains(x.who, id) && g.writes:
		return
	case g.writes && g.named && !x.wasTold(g) && !g.late:
		return
	}
	x.complain("%s %d got %s", g.name, id.PID, how)
}

// wasTold reports whether the person knows of a guest as a second writer.
func (x *trial) wasTold(g *guest) bool {
	return g.told || slices.ContainsFunc(x.news.all(), func(h heard) bool {
		all, _ := h.news.(OtherWriters)
		return slices.ContainsFunc(all, func(one evidence.Writer) bool { return one.Identity == g.id })
	})
}

// check asserts the invariants after each act.
func (x *trial) check(was session.State) {
	if !x.processes.Alive(x.other.id) {
		x.complain("the agent of another session is dead")
	}
	r := x.get(x.r.ID)
	ended := r.State == session.Archived || r.State == session.Completed && r.Exit == nil
	if !ended || was == r.State {
		return
	}
	for _, g := range x.guests {
		if !g.came || !x.processes.Alive(g.id) {
			continue
		}
		if g.bound || g.unclear || g.writes && g.named && !x.wasTold(g) && !g.late {
			x.complain("%s %d lives after the archive", g.name, g.id.PID)
		}
		if g.tool && slices.Contains(x.killed, g.parent) {
			x.complain("the tool %d lives though its agent was killed", g.id.PID)
		}
	}
	if a := x.tmux.byPID(x.r.Binding.Agent.PID); a != nil && x.processes.Alive(a.id) {
		x.complain("the agent lives after the archive")
	}
}
