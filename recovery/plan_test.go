package recovery

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ccbot/internal/process"
	"ccbot/internal/session"
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

func record(state session.State, b *session.Binding) session.Record {
	return session.Record{ID: uuid.New(), Name: "api", Dir: "/src", State: state, ClaudeSessionID: uuid.New(), Binding: b, CreatedAt: noon}
}

func world(r session.Record, alive process.Liveness, panes ...tmux.Pane) World {
	return World{Now: noon, Instance: instance, Session: ours, Server: server, Tmux: TmuxAnswers, Panes: panes,
		Alive: map[uuid.UUID]process.Liveness{r.ID: alive}, Records: []session.Record{r}}
}

// What Plan decides of one record, for each state.
func TestPlan(t *testing.T) {
	starting, restoring, running := session.Starting, session.Restoring, session.Running
	bound := []session.State{starting, restoring, running}
	tests := []struct {
		name   string
		states []session.State
		world  func(s session.State) World
		do     Do // empty: nothing
		notice NoticeKind
	}{
		{name: "its agent lives in its pane", states: bound, do: Reattach,
			world: func(s session.State) World { return world(record(s, binding(3)), process.Alive, pane(3)) }},
		{name: "its pane is there, nobody knows of its process", states: bound, do: Reattach,
			world: func(s session.State) World { return world(record(s, binding(3)), process.Unknown, pane(3)) }},
		{name: "its process ended, tmux does not know yet", states: bound, do: Reattach,
			world: func(s session.State) World { return world(record(s, binding(3)), process.Gone, pane(3)) }},
		{name: "its pane is dead", states: bound, do: Conclude,
			world: func(s session.State) World { return world(record(s, binding(3)), process.Gone, pane(3, dead)) }},
		{name: "adopted: the shell's pane is there, whatever its agent does", states: bound, do: Reattach,
			world: func(s session.State) World { return world(record(s, adopted(3)), process.Gone, inAShell(3)) }},
		{name: "adopted: the pane is another shell's", states: bound, do: MarkLost, notice: StaleWindow,
			world: func(s session.State) World { return world(record(s, adopted(3)), process.Gone, pane(3)) }},
		{name: "pane and process are gone", states: bound, do: MarkLost, notice: StaleWindow,
			world: func(s session.State) World { return world(record(s, binding(3)), process.Gone) }},
		{name: "the pane is gone, the process lives", states: bound, notice: Unclear,
			world: func(s session.State) World { return world(record(s, binding(3)), process.Alive) }},
		{name: "the pane is gone, nobody knows of the process", states: bound, notice: Unclear,
			world: func(s session.State) World { return world(record(s, binding(3)), process.Unknown) }},
		{name: "the pane is gone, the process was never identified", states: bound, do: MarkLost, notice: StaleWindow,
			world: func(s session.State) World {
				r := record(s, binding(3))
				r.Binding.Agent = process.Identity{PID: 1003}
				return world(r, process.Unknown)
			}},
		{name: "reused ids: same pane id, the server started anew", states: bound, do: MarkLost, notice: StaleWindow,
			world: func(s session.State) World {
				w := world(record(s, binding(3)), process.Gone, pane(3, tagged("4f0c/x")))
				w.Server.Start++
				return w
			}},
		{name: "reused ids: same pane id, another server pid", states: bound, do: MarkLost, notice: StaleWindow,
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
		{name: "another process in its pane", states: bound, do: MarkLost, notice: StaleWindow,
			world: func(s session.State) World {
				return world(record(s, binding(3)), process.Gone, pane(3, tagged("4f0c/x"), func(p *tmux.Pane) { p.PID = 7 }))
			}},
		{name: "no server, process gone", states: bound, do: MarkLost, notice: StaleWindow,
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
		{name: "unbound, a window carries its tag", states: bound, do: Bind,
			world: func(s session.State) World {
				r := record(s, nil)
				return world(r, process.Unknown, pane(1), pane(3, tagged(tagOf(r))))
			}},
		{name: "unbound, no window was made", states: []session.State{restoring}, do: Fail,
			world: func(s session.State) World { return world(record(s, nil), process.Unknown, pane(1)) }},
		{name: "unbound, no server", states: []session.State{restoring}, do: Fail,
			world: func(s session.State) World {
				w := world(record(s, nil), process.Unknown)
				w.Tmux = TmuxAbsent
				return w
			}},
		{name: "unbound, another instance has a window of the same record id", states: []session.State{restoring}, do: Fail,
			world: func(s session.State) World {
				r := record(s, nil)
				return world(r, process.Unknown, pane(3, tagged("other/"+r.ID.String())))
			}},
		{name: "unbound, no window was made", states: []session.State{starting}, do: Discard,
			world: func(s session.State) World { return world(record(s, nil), process.Unknown, pane(1)) }},
		{name: "unbound, no server", states: []session.State{starting}, do: Discard,
			world: func(s session.State) World {
				w := world(record(s, nil), process.Unknown)
				w.Tmux = TmuxAbsent
				return w
			}},
		{name: "unbound, another instance has a window of the same record id", states: []session.State{starting}, do: Discard,
			world: func(s session.State) World {
				r := record(s, nil)
				return world(r, process.Unknown, pane(3, tagged("other/"+r.ID.String())))
			}},
		{name: "running and unbound", states: []session.State{running}, do: MarkLost,
			world: func(s session.State) World { return world(record(s, nil), process.Unknown) }},
		{name: "an archive was interrupted", states: []session.State{session.Stopping}, do: FinishStop,
			world: func(s session.State) World { return world(record(s, binding(3)), process.Alive, pane(3)) }},
		{name: "an archive was interrupted, unbound", states: []session.State{session.Stopping}, do: FinishStop,
			world: func(s session.State) World { return world(record(s, nil), process.Unknown) }},
		{name: "over", states: []session.State{session.Archived, session.Completed, session.CleanupFailed, session.Lost,
			session.Failed, session.Abandoned},
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
				assert.Equal(t, Bind, actions[0].Do)
				assert.Equal(t, tc.want, actions[0].Pane.ID)
			}
		})
	}
}

func TestP2_OrphansAreOnlyTold(t *testing.T) {
	live, over := record(session.Running, binding(1)), record(session.Archived, nil)
	failed := record(session.CleanupFailed, binding(2))
	unbound := record(session.Starting, nil)
	name := func(n string) func(*tmux.Pane) { return func(p *tmux.Pane) { p.WindowName = n } }
	tests := []struct {
		name   string
		pane   tmux.Pane
		orphan bool
	}{
		{"nobody's", pane(7), true},
		{"ours by its tag, its record is over", pane(7, tagged(tagOf(over))), true},
		{"ours by its tag, no record", pane(7, tagged(instance+"/"+uuid.NewString())), true},
		{"ours by its tag, the tag is odd", pane(7, tagged(instance+"/")), true},
		{"bound to a live record", pane(1, tagged(tagOf(live))), false},
		{"bound, its tag was taken off", pane(1), false},
		{"bound to a record whose clean-up failed", pane(2, tagged(tagOf(failed))), false},
		{"of a launch not bound yet", pane(7, tagged(tagOf(unbound))), false},
		{"of another instance", pane(7, tagged("other/"+over.ID.String())), false},
		{"of another instance whose name begins like ours", pane(7, tagged(instance+"9/"+over.ID.String())), false},
		{"__main__", pane(7, name("__main__")), false},
		{"ccbot-usage", pane(7, name("ccbot-usage")), false},
		{"in another tmux session", pane(7, func(p *tmux.Pane) { p.Session = "work" }), false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			w := world(live, process.Alive, pane(1, tagged(tagOf(live))))
			w.Records = []session.Record{live, over, failed}
			if tc.name == "of a launch not bound yet" {
				w.Records = append(w.Records, unbound)
			}
			before, _ := Plan(w)
			if tc.pane.ID != w.Panes[0].ID {
				w.Panes = append(w.Panes, tc.pane)
			} else {
				w.Panes = []tmux.Pane{tc.pane}
			}
			actions, notices := Plan(w)
			var told []Notice
			for _, n := range notices {
				if n.Kind == OrphanWindow {
					told = append(told, n)
				}
			}
			if !tc.orphan {
				assert.Empty(t, told)
				return
			}
			require.Len(t, told, 1)
			assert.Equal(t, Notice{Kind: OrphanWindow, Pane: tc.pane, Why: "no Session record references it"}, told[0])
			assert.Equal(t, before, actions, "an orphan leads to no action")
		})
	}
}

func TestP2_AnOrphanWindowIsToldOnce(t *testing.T) {
	split := pane(8, func(p *tmux.Pane) { p.Window = windowID(7) })
	w := world(record(session.Archived, nil), process.Unknown, pane(7), split, pane(9))
	orphans := w.Orphans()
	require.Len(t, orphans, 2)
	assert.Equal(t, []tmux.WindowID{windowID(7), windowID(9)}, []tmux.WindowID{orphans[0].Window, orphans[1].Window})
}

// Ids of a server that is gone bind nothing in the next one.
func TestP2_ABindingOfAnotherServerHidesNoOrphan(t *testing.T) {
	w := world(record(session.CleanupFailed, binding(7)), process.Unknown, pane(7))
	assert.Empty(t, w.Orphans())
	w.Server.Start++
	assert.Len(t, w.Orphans(), 1)
}

// anyWorld draws a world with a few records and panes that often meet.
func anyWorld(t *rapid.T) World {
	w := World{Now: noon, Instance: instance, Session: ours, Alive: map[uuid.UUID]process.Liveness{}, Watched: map[uuid.UUID]bool{},
		Tmux: rapid.SampledFrom([]TmuxFate{TmuxAnswers, TmuxAnswers, TmuxAnswers, TmuxAbsent, TmuxUnknown}).Draw(t, "tmux")}
	if w.Tmux == TmuxAnswers {
		w.Server = server
		w.Server.Start += rapid.Uint64Range(0, 1).Draw(t, "server")
	}
	for range rapid.IntRange(0, 4).Draw(t, "records") {
		r := record(rapid.SampledFrom(session.States()).Draw(t, "state"), nil)
		if rapid.IntRange(0, 3).Draw(t, "bound") > 0 {
			r.Binding = binding(rapid.IntRange(0, 4).Draw(t, "binding"))
			if rapid.IntRange(0, 5).Draw(t, "identified") == 0 {
				r.Binding.Agent.Start, r.Binding.Agent.Boot = 0, ""
			}
		}
		w.Records = append(w.Records, r)
		w.Alive[r.ID] = rapid.SampledFrom([]process.Liveness{process.Unknown, process.Alive, process.Gone}).Draw(t, "alive")
		w.Watched[r.ID] = rapid.IntRange(0, 3).Draw(t, "watched") == 0
	}
	if w.Tmux != TmuxAnswers {
		return w
	}
	tags := []string{"", instance + "/" + uuid.NewString(), "other/" + uuid.NewString()}
	for _, r := range w.Records {
		tags = append(tags, tagOf(r))
	}
	for n := range 5 {
		if !rapid.Bool().Draw(t, "there") {
			continue
		}
		w.Panes = append(w.Panes, pane(n, tagged(rapid.SampledFrom(tags).Draw(t, "tag")), func(p *tmux.Pane) {
			p.Window = windowID(rapid.IntRange(max(0, n-1), n).Draw(t, "window"))
			p.Dead = rapid.Bool().Draw(t, "dead")
			p.PID += rapid.IntRange(0, 1).Draw(t, "pid") * 100
			p.Session = rapid.SampledFrom([]string{ours, ours, "work"}).Draw(t, "session")
			p.WindowName = rapid.SampledFrom([]string{"api", "api", "__main__", "ccbot-usage"}).Draw(t, "name")
		}))
	}
	return w
}

func TestP6_UnknownTmuxDecidesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		w.Tmux = TmuxUnknown
		w.Panes = nil
		actions, notices := Plan(w)
		if len(actions) > 0 {
			t.Fatalf("actions on unknown tmux: %+v", actions)
		}
		live := 0
		for _, r := range w.Records {
			if r.State.Live() {
				live++
			}
		}
		if len(notices) != live || slices.ContainsFunc(notices, func(n Notice) bool { return n.Kind != Unclear }) {
			t.Fatalf("%d live records, told %+v", live, notices)
		}
	})
}

// Nothing is called lost or failed without proof, and nothing is decided of what
// is over.
func TestP6_LostNeedsProof(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		actions, _ := Plan(w)
		seen := map[uuid.UUID]bool{}
		for _, a := range actions {
			r := w.Records[slices.IndexFunc(w.Records, func(r session.Record) bool { return r.ID == a.Record })]
			if seen[r.ID] || !r.State.Live() {
				t.Fatalf("%+v: of a record in state %s, or a second time", a, r.State)
			}
			seen[r.ID] = true
			switch a.Do {
			case MarkLost, Fail, Discard:
				for _, p := range w.Panes {
					mine := r.Binding != nil && p.ID.String() == r.Binding.Pane && p.PID == r.Binding.Agent.PID && w.Server.Start == r.Binding.Server.Start
					if mine || r.Binding == nil && p.Tag == tagOf(r) {
						t.Fatalf("%s although pane %+v is there", a.Do, p)
					}
				}
				if b := r.Binding; b != nil && b.Agent.Valid() && w.Alive[r.ID] != process.Gone {
					t.Fatalf("%s although its process is %s", a.Do, w.Alive[r.ID])
				}
				if a.Do == Discard && (r.State != session.Starting || r.Binding != nil) {
					t.Fatalf("a record in state %s is discarded", r.State)
				}
			case Bind:
				if r.Binding != nil || a.Pane.Tag != tagOf(r) {
					t.Fatalf("%+v binds a foreign pane or a bound record", a)
				}
			}
		}
	})
}

// model is what Apply makes of a world, action by action.
func (w World) after(actions []Action) World {
	w.Records = slices.Clone(w.Records)
	for _, a := range actions {
		i := slices.IndexFunc(w.Records, func(r session.Record) bool { return r.ID == a.Record })
		r := w.Records[i].Clone()
		switch a.Do {
		case Discard:
			w.Records = slices.Delete(w.Records, i, i+1)
			continue
		case Reattach, Conclude:
			w.Watched[r.ID] = true
		case Bind:
			r.Binding = &session.Binding{Server: session.Server(w.Server), Window: a.Pane.Window.String(), Pane: a.Pane.ID.String(),
				Agent: process.Identity{PID: a.Pane.PID, Start: 1, Boot: "boot"}}
			w.Watched[r.ID] = true
		case MarkLost:
			r.State, r.Binding = session.Lost, nil
		case Fail:
			r.State, r.Binding = session.Failed, nil
		case FinishStop:
			r.State, r.Binding = session.Archived, nil
		}
		w.Records[i] = r
	}
	return w
}

func TestP8_PlanAfterApplyFindsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		actions, _ := Plan(w)
		again, _ := Plan(w.after(actions))
		if len(again) > 0 {
			t.Fatalf("after %+v there is more to do: %+v", actions, again)
		}
	})
}

func TestP8_PlanIsPure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		before := fmt.Sprintf("%+v", w)
		first, told := Plan(w)
		second, toldAgain := Plan(w)
		if fmt.Sprintf("%+v", w) != before {
			t.Fatal("Plan changed the world")
		}
		if fmt.Sprint(first, told) != fmt.Sprint(second, toldAgain) {
			t.Fatal("the same world gave two plans")
		}
		slices.Reverse(w.Panes)
		if reversed, _ := Plan(w); fmt.Sprint(first) != fmt.Sprint(reversed) {
			t.Fatalf("the order of panes decides: %+v, %+v", first, reversed)
		}
	})
}
