package recovery

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/view"
	"ccbot/tmux"
)

const (
	instance = "4f0c"
	ours     = "ccbot" // tmux session
)

var (
	noon   = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	server = tmux.ServerID{Socket: "/tmp/tmux-0/default", PID: 50, Start: 500}
)

func paneID(n int) tmux.PaneID {
	id, err := tmux.ParsePaneID(fmt.Sprintf("%%%d", n))
	if err != nil {
		panic(err)
	}
	return id
}

func windowID(n int) tmux.WindowID {
	id, err := tmux.ParseWindowID(fmt.Sprintf("@%d", n))
	if err != nil {
		panic(err)
	}
	return id
}

// pane is pane n in window n of ccbot's session; its process has pid 1000+n.
func pane(n int, change ...func(*tmux.Pane)) tmux.Pane {
	p := tmux.Pane{ID: paneID(n), Window: windowID(n), Session: ours, WindowName: "api", PID: 1000 + n, Command: "claude", WindowPanes: 1}
	for _, c := range change {
		c(&p)
	}
	return p
}

func tagOf(r session.Record) string { return instance + "/" + r.ID.String() }

func tagged(tag string) func(*tmux.Pane) { return func(p *tmux.Pane) { p.Tag = tag } }
func dead(p *tmux.Pane)                  { p.Dead, p.DeadStatus = true, 1 }

// binding is that of pane n in the present server.
func binding(n int) *session.Binding {
	return &session.Binding{
		Server: session.Server{Socket: server.Socket, PID: server.PID, Start: server.Start},
		Window: windowID(n).String(), Pane: paneID(n).String(),
		Agent: process.Identity{PID: 1000 + n, Start: uint64(n + 1), Boot: "boot"}, BoundAt: noon}
}

// adopted is the binding of an agent that a person runs in pane n, below the
// shell that inAShell shows.
func adopted(n int) *session.Binding {
	b := binding(n)
	b.Adopted, b.Shell = true, 2000+n
	return b
}

func inAShell(n int) tmux.Pane {
	return pane(n, func(p *tmux.Pane) { p.PID, p.Session, p.Command = 2000+n, "desk", "zsh" })
}

// young was launched five seconds ago.
func young(r session.Record) session.Record {
	r.StartedAt = noon.Add(-5 * time.Second)
	return r
}

func record(state session.State, b *session.Binding) session.Record {
	return session.Record{ID: uuid.New(), Name: "api", Dir: "/src", State: state, AgentSessionID: uuid.New(), Run: session.Run{Binding: b}, CreatedAt: noon}
}

func world(r session.Record, alive process.Liveness, panes ...tmux.Pane) World {
	servers := map[process.Identity]process.Liveness{}
	if r.Binding != nil {
		servers[view.ServerOf(*r.Binding, "boot")] = process.Gone
	}
	return World{Now: noon, Instance: instance, Session: ours, Boot: "boot", Server: server, Servers: servers, Tmux: TmuxAnswers, Panes: panes,
		Limits: limits, Records: []session.Record{r}, Signs: map[uuid.UUID]Sign{r.ID: signOf(r)},
		Survey: evidence.Survey{Agents: map[uuid.UUID]process.Liveness{r.ID: alive}, Writers: map[uuid.UUID][]evidence.Writer{}}}
}

// otherClock moves ccbot to another time namespace: all starts that it reads differ from those it
// has noted.
func otherClock(w World) World {
	w.Records[0].Binding.Agent.Boot = "8d6c7a52-0000-4000-8000-000000000001"
	w.Boot, w.Server.Start = w.Records[0].Binding.Agent.Boot+"-3b9aca00", w.Server.Start+100_000
	return w
}

var limits = Limits{StaleRunning: 30 * day, ResumeStale: day, OrphanGrace: 30 * time.Second}

// TestPlan checks the decision about one record, for each state.
func TestPlan(t *testing.T) {
	starting, restoring, running := session.Starting, session.Restoring, session.Running
	bound := []session.State{starting, restoring, running}
	tests := []struct {
		name   string
		states []session.State
		world  func(s session.State) World
		do     lifecycle.Do // empty: nothing
		notice NoticeKind
	}{
		{name: "its agent lives in its pane", states: bound, do: lifecycle.Reattach,
			world: func(s session.State) World { return world(record(s, binding(3)), process.Alive, pane(3)) }},
		{name: "its pane is there, nobody knows of its process", states: bound, do: lifecycle.Reattach,
			world: func(s session.State) World { return world(record(s, binding(3)), process.Unknown, pane(3)) }},
		{name: "its process ended, tmux does not know yet", states: bound, do: lifecycle.Reattach,
			world: func(s session.State) World { return world(record(s, binding(3)), process.Gone, pane(3)) }},
		{name: "its binding is of another clock, no pane is there", states: bound, notice: Unclear,
			world: func(s session.State) World { return otherClock(world(record(s, binding(3)), process.Gone)) }},
		{name: "its binding is of another clock, its pane is dead", states: bound, notice: Unclear,
			world: func(s session.State) World {
				return otherClock(world(record(s, binding(3)), process.Unknown, pane(3, dead)))
			}},
		{name: "its pane is dead", states: bound, do: lifecycle.Conclude,
			world: func(s session.State) World { return world(record(s, binding(3)), process.Gone, pane(3, dead)) }},
		{name: "adopted: its agent lives in its shell", states: bound, do: lifecycle.Reattach,
			world: func(s session.State) World { return world(record(s, adopted(3)), process.Alive, inAShell(3)) }},
		{name: "adopted: nobody knows of its agent", states: bound, do: lifecycle.Reattach,
			world: func(s session.State) World { return world(record(s, adopted(3)), process.Unknown, inAShell(3)) }},
		{name: "adopted: its agent is gone, the shell stays", states: bound, do: lifecycle.Conclude,
			world: func(s session.State) World { return world(record(s, adopted(3)), process.Gone, inAShell(3)) }},
		{name: "its pane is dead, nobody knows of its process", states: bound, do: lifecycle.Reattach,
			world: func(s session.State) World { return world(record(s, binding(3)), process.Unknown, pane(3, dead)) }},
		{name: "adopted: the pane is another shell's", states: bound, do: lifecycle.MarkLost, notice: StaleWindow,
			world: func(s session.State) World { return world(record(s, adopted(3)), process.Gone, pane(3)) }},
		{name: "pane and process are gone", states: bound, do: lifecycle.MarkLost, notice: StaleWindow,
			world: func(s session.State) World { return world(record(s, binding(3)), process.Gone) }},
		{name: "the pane is gone, the process lives", states: bound, notice: Unclear,
			world: func(s session.State) World { return world(record(s, binding(3)), process.Alive) }},
		{name: "the pane is gone, nobody knows of the process", states: bound, notice: Unclear,
			world: func(s session.State) World { return world(record(s, binding(3)), process.Unknown) }},
		{name: "the pane is gone, the process was never identified", states: bound, do: lifecycle.MarkLost, notice: StaleWindow,
			world: func(s session.State) World {
				r := record(s, binding(3))
				r.Binding.Agent = process.Identity{PID: 1003}
				return world(r, process.Unknown)
			}},
		{name: "reused ids: same pane id, the server started anew", states: bound, do: lifecycle.MarkLost, notice: StaleWindow,
			world: func(s session.State) World {
				w := world(record(s, binding(3)), process.Gone, pane(3, tagged("4f0c/x")))
				w.Server.Start++
				return w
			}},
		{name: "reused ids: same pane id, another server pid", states: bound, do: lifecycle.MarkLost, notice: StaleWindow,
			world: func(s session.State) World {
				w := world(record(s, binding(3)), process.Gone, pane(3, tagged("4f0c/x")))
				w.Server.PID++
				return w
			}},
		{name: "reused ids, and the old process lives", states: bound, notice: Unclear,
			world: func(s session.State) World {
				w := world(record(s, binding(3)), process.Alive, pane(3, tagged("4f0c/x")))
				w.Server.Start++
				return w
			}},
		{name: "another process in its pane", states: bound, do: lifecycle.MarkLost, notice: StaleWindow,
			world: func(s session.State) World {
				return world(record(s, binding(3)), process.Gone, pane(3, tagged("4f0c/x"), func(p *tmux.Pane) { p.PID = 7 }))
			}},
		{name: "no server, process gone", states: bound, do: lifecycle.MarkLost, notice: StaleWindow,
			world: func(s session.State) World {
				w := world(record(s, binding(3)), process.Gone)
				w.Tmux, w.Server = TmuxAbsent, tmux.ServerID{}
				return w
			}},
		{name: "no server, nobody knows of the process", states: bound, notice: Unclear,
			world: func(s session.State) World {
				w := world(record(s, binding(3)), process.Unknown)
				w.Tmux, w.Server = TmuxAbsent, tmux.ServerID{}
				return w
			}},
		{name: "handed over already", states: bound,
			world: func(s session.State) World {
				r := record(s, binding(3))
				w := world(r, process.Alive, pane(3))
				w.Watched = map[uuid.UUID]bool{r.ID: true}
				return w
			}},
		{name: "unbound, a window carries its tag", states: bound, do: lifecycle.Bind,
			world: func(s session.State) World {
				r := record(s, nil)
				return world(r, process.Unknown, pane(1), pane(3, tagged(tagOf(r))))
			}},
		{name: "unbound, no window was made", states: []session.State{restoring}, do: lifecycle.Fail,
			world: func(s session.State) World { return world(record(s, nil), process.Unknown, pane(1)) }},
		{name: "unbound, no server", states: []session.State{restoring}, do: lifecycle.Fail,
			world: func(s session.State) World {
				w := world(record(s, nil), process.Unknown)
				w.Tmux = TmuxAbsent
				return w
			}},
		{name: "unbound, another instance has a window of the same record id", states: []session.State{restoring}, do: lifecycle.Fail,
			world: func(s session.State) World {
				r := record(s, nil)
				return world(r, process.Unknown, pane(3, tagged("other/"+r.ID.String())))
			}},
		{name: "unbound, no window was made", states: []session.State{starting}, do: lifecycle.Discard,
			world: func(s session.State) World { return world(record(s, nil), process.Unknown, pane(1)) }},
		{name: "unbound, no server", states: []session.State{starting}, do: lifecycle.Discard,
			world: func(s session.State) World {
				w := world(record(s, nil), process.Unknown)
				w.Tmux = TmuxAbsent
				return w
			}},
		{name: "unbound, another instance has a window of the same record id", states: []session.State{starting}, do: lifecycle.Discard,
			world: func(s session.State) World {
				r := record(s, nil)
				return world(r, process.Unknown, pane(3, tagged("other/"+r.ID.String())))
			}},
		{name: "running and unbound", states: []session.State{running}, do: lifecycle.MarkLost,
			world: func(s session.State) World { return world(record(s, nil), process.Unknown) }},
		{name: "an archive was interrupted", states: []session.State{session.Stopping}, do: lifecycle.FinishStop,
			world: func(s session.State) World { return world(record(s, binding(3)), process.Alive, pane(3)) }},
		{name: "an archive was interrupted, unbound", states: []session.State{session.Stopping}, do: lifecycle.FinishStop,
			world: func(s session.State) World { return world(record(s, nil), process.Unknown) }},
		{name: "unbound, asked for a moment ago", states: []session.State{restoring}, do: lifecycle.FinishRestore,
			world: func(s session.State) World { return world(young(record(s, nil)), process.Unknown) }},
		{name: "unbound, asked for a moment ago by a clock that was set back since", states: []session.State{restoring}, do: lifecycle.Fail,
			world: func(s session.State) World {
				r := record(s, nil)
				r.StartedAt = noon.Add(time.Hour)
				return world(r, process.Unknown)
			}},
		{name: "unbound, a moment ago", states: []session.State{starting}, do: lifecycle.Discard,
			world: func(s session.State) World { return world(young(record(s, nil)), process.Unknown) }},
		{name: "running and unbound, who writes cannot be seen", states: []session.State{running}, notice: Unclear,
			world: func(s session.State) World {
				w := world(record(s, nil), process.Unknown)
				w.Survey.Writers = nil
				return w
			}},
		{name: "over", states: []session.State{session.Archived, session.Completed, session.Lost, session.Failed, session.Abandoned},
			world: func(s session.State) World { return world(record(s, binding(3)), process.Alive, pane(3)) }},
	}
	for _, tc := range tests {
		for _, s := range tc.states {
			t.Run(tc.name+"/"+string(s), func(t *testing.T) {
				w := tc.world(s)
				actions, notices := Plan(w)
				notices = slices.DeleteFunc(notices, func(n Notice) bool { return n.Kind == OrphanWindow })
				if tc.do == "" {
					assert.Empty(t, actions)
				} else if assert.Len(t, actions, 1) {
					assert.Equal(t, tc.do, actions[0].Do)
					assert.Equal(t, w.Records[0].ID, actions[0].Record)
					assert.NotEmpty(t, actions[0].Why)
					assert.NotEmpty(t, actions[0].Evidence)
				}
				if tc.notice == "" {
					assert.Empty(t, notices)
				} else if assert.Len(t, notices, 1) {
					assert.Equal(t, tc.notice, notices[0].Kind)
					assert.Equal(t, w.Records[0].ID, notices[0].Record)
				}
			})
		}
	}
}

// A pane that a person split off carries the tag of its window, and an earlier
// launch may have left a window: neither is the launch that was interrupted.
func TestP2_BindTakesTheWindowsOwnPane(t *testing.T) {
	r := record(session.Restoring, nil)
	tag := tagged(tagOf(r))
	in := func(window int) func(*tmux.Pane) { return func(p *tmux.Pane) { p.Window = windowID(window) } }
	old, launch, split := pane(5, tag, dead), pane(9, tag, in(9)), pane(12, tag, in(9))
	later := pane(10, tag, in(10))
	tests := []struct {
		name  string
		panes []tmux.Pane
		want  tmux.PaneID
	}{
		{"split", []tmux.Pane{split, launch}, launch.ID},
		{"an earlier window is still there", []tmux.Pane{launch, split, old}, launch.ID},
		{"@9 and @10", []tmux.Pane{old, later, launch, split}, later.ID},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			for range len(tc.panes) {
				tc.panes = append(tc.panes[1:], tc.panes[0])
				actions, _ := Plan(world(r, process.Unknown, tc.panes...))
				require.Len(t, actions, 1)
				assert.Equal(t, lifecycle.Bind, actions[0].Do)
				assert.Equal(t, tc.want, actions[0].Pane.ID)
			}
		})
	}
}
