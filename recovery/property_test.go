package recovery

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/view"
	"ccbot/port/talk"
	"ccbot/tmux"
)

// Each check draws this many worlds: 10,000 with rapid's 100 checks.
const worldsPerCheck = 100

// anyWorld draws a world with a few records, panes and writers that often meet.
func anyWorld(t *rapid.T) World {
	w := World{Now: noon, Instance: instance, Session: ours, Boot: "boot", Limits: limits,
		Servers: map[process.Identity]process.Liveness{}, Watched: map[uuid.UUID]bool{}, Nested: map[process.Identity]bool{}, Ignored: map[tmux.WindowID]bool{}, Holds: map[tmux.PaneID]bool{},
		Survey: evidence.Survey{Agents: map[uuid.UUID]process.Liveness{}, Writers: map[uuid.UUID][]evidence.Writer{}}}
	w.Tmux = pick(t, "tmux", TmuxAnswers, TmuxAnswers, TmuxAnswers, TmuxAbsent, TmuxUnknown)
	w.Boot = pick(t, "boot", "boot", "boot", "boot", "another", "")
	w.Since = pick(t, "since", time.Time{}, noon.Add(-time.Minute))
	w.Limits.OrphanGrace = pick(t, "grace", limits.OrphanGrace, limits.OrphanGrace, 0)
	if w.Tmux == TmuxAnswers {
		w.Server = server
		w.Server.Start += pick[uint64](t, "server", 0, 0, 1)
	}
	claude := []uuid.UUID{uuid.New(), uuid.New(), uuid.New(), uuid.New(), uuid.New()}
	for range rapid.IntRange(0, 5).Draw(t, "records") {
		w.Records = append(w.Records, anyRecord(t, claude))
	}
	if w.Tmux == TmuxAnswers {
		w.Panes = anyPanes(t, w)
	}
	w.Survey.Writers = anyWriters(t, w)
	for _, r := range w.Records {
		w.Watched[r.ID] = pick(t, "watched", false, false, false, true) || w.launchedHere(r)
		if r.Binding != nil {
			w.Servers[view.ServerOf(*r.Binding, w.Boot)] = pick(t, "server lives", process.Gone, process.Gone, process.Alive, process.Unknown)
			w.Survey.Agents[r.ID] = pick(t, "alive", process.Unknown, process.Alive, process.Gone, process.Gone)
		}
	}
	w.Signs = signs(w.Records)
	if pick(t, "aside", false, false, true) {
		w.Unloaded = []session.Unloaded{{File: "a.json", ID: uuid.New()}, {File: "b.json"}}
	}
	return w
}

func pick[T any](t *rapid.T, label string, from ...T) T {
	return rapid.SampledFrom(from).Draw(t, label)
}

func anyRecord(t *rapid.T, claude []uuid.UUID) session.Record {
	states := append(session.States(), session.Running, session.Running, session.Running)
	r := record(pick(t, "state", states...), nil)
	r.AgentSessionID = pick(t, "conversation", claude...)
	r.CreatedAt = noon.Add(-400 * day)
	r.StartedAt = noon.Add(-pick(t, "started", time.Second, time.Hour, -time.Hour, 40*day, 40*day))
	r.Progress.LastTurnAt = noon.Add(-pick(t, "last turn", 2*day, 31*day, 31*day))
	r.EndedAt = noon.Add(-pick(t, "ended", time.Second, time.Hour, time.Hour))
	r.ClosedReason = pick(t, "closed", "", "", "", session.ClosedReboot, session.ClosedStale)
	if bound := r.State.Live() || r.State == session.CleanupFailed; bound && pick(t, "bound", true, true, true, false) {
		r.Binding = binding(rapid.IntRange(0, 4).Draw(t, "binding"))
		r.Binding.BoundAt = r.StartedAt
		switch pick(t, "identified", 0, 0, 0, 1, 2, 3) {
		case 1:
			r.Binding.Agent.Start, r.Binding.Agent.Boot = 0, ""
		case 2:
			r.Binding.Adopted, r.Binding.Shell = true, r.Binding.Agent.PID+1000
		case 3:
			r.Binding.Adopted = true
		}
	}
	if r.State == session.CleanupFailed || pick(t, "cleanup", false, false, true) {
		r.Cleanup = &session.CleanupError{NotBefore: noon.Add(pick(t, "not before", -time.Minute, time.Minute))}
	}
	if pick(t, "left", false, true) {
		r.Prompts, r.Cursors = []string{"7"}, []talk.Cursor{{Path: "/nowhere.jsonl"}}
	}
	return r
}

func anyPanes(t *rapid.T, w World) (panes []tmux.Pane) {
	tags := []string{"", instance + "/" + uuid.NewString(), "other/" + uuid.NewString()}
	for _, r := range w.Records {
		tags = append(tags, tagOf(r), "other/"+r.ID.String())
	}
	windowTags := map[tmux.WindowID]string{} // the tag is the window's
	for n := range 5 {
		if !pick(t, "there", true, true, false) {
			continue
		}
		p := pane(n)
		p.Window = windowID(rapid.IntRange(max(0, n-1), n).Draw(t, "window"))
		if _, tagged := windowTags[p.Window]; !tagged {
			windowTags[p.Window] = pick(t, "tag", tags...)
		}
		p.Tag = windowTags[p.Window]
		p.Dead = pick(t, "dead", false, false, true)
		p.PID += pick(t, "pid", 0, 0, 1000, 100)
		p.Session = pick(t, "session", ours, ours, "work")
		p.WindowName = pick(t, "name", "api", "api", "__main__", "ccbot-usage")
		w.Ignored[p.Window] = pick(t, "ignored", false, false, true)
		if held := pick(t, "holds", "", "launch", "launch", "another"); held != "" && w.unboundTag(p.Tag) {
			w.Holds[p.ID] = held == "launch"
		}
		panes = append(panes, p)
	}
	return panes
}

// unboundTag reports whether a tag belongs to a session without a binding.
func (w World) unboundTag(tag string) bool {
	return slices.ContainsFunc(w.Records, func(r session.Record) bool { return r.Binding == nil && r.State.Live() && tagOf(r) == tag })
}

// anyWriters are of conversations: each session that has one sees the same
// processes, as far as they are not its own.
func anyWriters(t *rapid.T, w World) map[uuid.UUID][]evidence.Writer {
	if pick(t, "evidence", 0, 0, 0, 0, 1) == 1 {
		return nil
	}
	writers := map[uuid.UUID][]evidence.Writer{}
	for i, r := range w.Records {
		for n := range pick(t, "writers", 0, 0, 1, 1, 2) {
			one := writer(10*i + n)
			one.Proven = pick(t, "proven", true, true, true, false)
			one.Source = pick(t, "source", process.SourcePresence, process.SourcePresence, process.SourceHook, process.SourceArgv)
			one.Standing = pick(t, "standing", evidence.Second, evidence.Leftover, evidence.Unclear)
			one.Spared = pick(t, "spared", "", "", "", "self")
			one.InTmux = len(w.Panes) > 0 && pick(t, "in tmux", true, true, false)
			if one.InTmux {
				one.Pane = pick(t, "pane", w.Panes...)
			}
			w.Nested[one.Identity] = pick(t, "below", false, false, false, true)
			for _, same := range w.Records {
				if same.AgentSessionID == r.AgentSessionID {
					writers[same.ID] = append(writers[same.ID], one)
				}
			}
		}
	}
	return writers
}

// checkWorlds checks something of many worlds.
func checkWorlds(t *testing.T, check func(t *rapid.T, w World)) {
	rapid.Check(t, func(t *rapid.T) {
		for range worldsPerCheck {
			check(t, anyWorld(t))
		}
	})
}

func TestP6_UnknownTmuxKeepsOpenSessions(t *testing.T) {
	checkWorlds(t, func(t *rapid.T, w World) {
		w.Tmux, w.Panes = TmuxUnknown, nil
		actions, notices := Plan(w)
		for _, a := range actions {
			if a.Do != lifecycle.EndLeftovers {
				t.Fatalf("%s on unknown tmux", a.Do)
			}
		}
		for _, r := range w.Records {
			reported := slices.ContainsFunc(notices, func(n Notice) bool { return n.Record == r.ID && n.Kind == Unclear })
			if r.State.Live() != reported {
				t.Fatalf("%s: told %t", r.State, reported)
			}
		}
	})
}

func TestP8_PlanIsPure(t *testing.T) {
	checkWorlds(t, func(t *rapid.T, w World) {
		before := w.clone()
		first, reported := Plan(w)
		if !reflect.DeepEqual(before, w) {
			t.Fatal("Plan changed the world")
		}
		second, toldAgain := Plan(w)
		if !reflect.DeepEqual(first, second) || !reflect.DeepEqual(reported, toldAgain) {
			t.Fatal("the same world gave two plans")
		}
		slices.Reverse(w.Panes)
		if reversed, _ := Plan(w); fmt.Sprint(first) != fmt.Sprint(reversed) {
			t.Fatalf("the order of panes decides: %+v, %+v", first, reversed)
		}
	})
}

// In ten thousand worlds each planned action touches only ccbot's own sessions, is proven, and
// leaves nothing to plan.
func TestP8_PlanAfterApplyFindsNothing(t *testing.T) {
	checkWorlds(t, func(t *rapid.T, w World) {
		actions, _ := Plan(w)
		seen := map[uuid.UUID]bool{}
		for _, a := range actions {
			if seen[a.Record] || a.Why == "" || a.Evidence == "" {
				t.Fatalf("%+v: a second one, or without a reason", a)
			}
			seen[a.Record] = true
			if fault := w.fault(a); fault != "" {
				t.Fatalf("%+v: %s\n%+v", a, fault, w)
			}
		}
		after := w.after(actions)
		if again, _ := Plan(after); len(again) > 0 {
			t.Fatalf("after %+v there is more to do: %+v", actions, again)
		}
	})
}

// The same with the real Apply on real records: it does what the model does, and
// ends no process but what is proven to be left of a session.
func TestP2_ApplyTouchesOnlyWhatIsOurs(t *testing.T) {
	dir, worlds := memoryDir(t), 0
	rapid.Check(t, func(t *rapid.T) {
		for range worldsPerCheck / 10 {
			w := anyWorld(t)
			stuck := map[uuid.UUID]bool{}
			for _, r := range w.Records {
				stuck[r.ID] = pick(t, "stuck", false, false, false, false, false, true)
			}
			worlds++
			checkApply(t, w, stuck, filepath.Join(dir, strconv.Itoa(worlds)))
		}
	})
}

func checkApply(t *rapid.T, w World, stuck map[uuid.UUID]bool, dir string) {
	v, l, err := inWorld(w, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l.fail = stuck
	report, err := v.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	want, changed := w.recovered(stuck), false
	for _, r := range report.Results {
		changed = changed || r.Action.Do.Changes()
		if failed := stuck[r.Action.Record] && r.Action.Do.Changes() && r.Action.Do != lifecycle.Discard; (r.Err != nil) != failed {
			t.Fatalf("%+v", r)
		}
	}
	if (report.Backup != "") != changed {
		t.Fatalf("backup %q, changed: %t", report.Backup, changed)
	}
	compare(t, want.Records, v.Store.Shared(), stuck)
	for _, id := range l.ended {
		if !slices.ContainsFunc(slices.Concat(slices.Collect(maps.Values(w.Survey.Writers))...), func(one evidence.Writer) bool {
			return one.Identity == id && one.Standing == evidence.Leftover && one.Endable()
		}) {
			t.Fatalf("process %s was ended", id)
		}
	}
	again, _ := Plan(v.Collect(context.Background()))
	for _, a := range again {
		if !stuck[a.Record] {
			t.Fatalf("there is more to do: %+v", a)
		}
	}
}

// compare holds real records against the model's.
func compare(t *rapid.T, want, got []session.Record, stuck map[uuid.UUID]bool) {
	if len(want) != len(got) {
		t.Fatalf("%d records, the model has %d", len(got), len(want))
	}
	for _, m := range want {
		i := slices.IndexFunc(got, func(r session.Record) bool { return r.ID == m.ID })
		if i < 0 {
			t.Fatalf("%s is missing", m.ID)
		}
		r := got[i]
		if r.State != m.State || r.ClosedReason != m.ClosedReason || r.Agent() != m.Agent() || len(r.Prompts) != len(m.Prompts) {
			t.Fatalf("%s %q of %s, the model says %s %q of %s", r.State, r.ClosedReason, r.Agent(), m.State, m.ClosedReason, m.Agent())
		}
		if lines := len(r.History); lines%2 == 1 || lines > 0 && !stuck[r.ID] && r.History[lines-1].Why != "done" {
			t.Fatalf("%+v", r.History)
		}
	}
}

// fault describes the error in an action by what the world shows of its record. It is written
// without the rules.
func (w World) fault(a Action) string {
	r := w.Records[slices.IndexFunc(w.Records, func(r session.Record) bool { return r.ID == a.Record })]
	bound, there := r.Binding != nil, false
	gone := !bound || !r.Binding.Agent.Valid() || w.Survey.Agents[r.ID] == process.Gone
	for _, p := range w.Panes {
		there = there || bound && p.ID.String() == r.Binding.Pane && p.PID == r.Binding.PanePID() && w.Server.Start == r.Binding.Server.Start
		held, seen := w.Holds[p.ID]
		there = there || !bound && p.Tag == tagOf(r) && (held || !seen && p == w.firstPane(p.Window))
	}
	writers := w.Survey.Writers[r.ID]
	switch a.Do {
	case lifecycle.Reattach, lifecycle.Conclude:
		return unless(there && bound && r.State.Live(), "its pane is not there")
	case lifecycle.Bind:
		held, seen := w.Holds[a.Pane.ID]
		return unless((held || !seen) && !bound && a.Pane.Tag == tagOf(r) && r.State.Live(), "it is not its window")
	case lifecycle.Discard:
		return unless(!bound && !there && r.State == session.Starting, "there is something of it")
	case lifecycle.Fail, lifecycle.FinishRestore:
		return unless(!bound && !there && r.State == session.Restoring, "there is something of it")
	case lifecycle.MarkLost:
		closed := !bound || w.sameServer(*r.Binding) == process.Yes || w.serverGone(*r.Binding)
		return unless(gone && closed && !there && r.State.Live() && r.State != session.Stopping && w.Tmux != TmuxUnknown, "it is not proven gone")
	case Abandon:
		return unless(!there && r.State == session.Running && w.Survey.Agents[r.ID] == process.Unknown && w.Signs[r.ID].At.Before(noon.Add(-30*day)),
			"it is not stale")
	case lifecycle.FinishStop:
		return unless(r.State == session.Stopping, "it is not stopping")
	case TakeOver:
		ok := gone && !there && r.State == session.Running && len(writers) == 1
		return unless(ok && writers[0].Identity == a.Agent && writers[0].Adoptable() && writers[0].Source == process.SourcePresence &&
			!w.Nested[a.Agent], "there is doubt of who goes on")
	case lifecycle.EndLeftovers:
		own := slices.ContainsFunc(writers, func(w evidence.Writer) bool { return w.Standing == evidence.Leftover && w.Endable() })
		return unless(own && (r.State == session.Archived || r.State == session.Completed), "nothing of it is proven to be left")
	}
	return "it is not known"
}

// firstPane is the one that the window was made with.
func (w World) firstPane(id tmux.WindowID) (first tmux.Pane) {
	for _, p := range w.Panes {
		if p.Window == id && (!first.ID.Valid() || len(p.ID.String()) == len(first.ID.String()) && p.ID.String() < first.ID.String()) {
			first = p
		}
	}
	return first
}

func unless(ok bool, fault string) string {
	if ok {
		return ""
	}
	return fault
}

func (w World) clone() World {
	w.Records = slices.Clone(w.Records)
	for i, r := range w.Records {
		w.Records[i] = r.Clone()
	}
	w.Panes = slices.Clone(w.Panes)
	w.Watched, w.Signs, w.Nested, w.Ignored = cloneMap(w.Watched), cloneMap(w.Signs), cloneMap(w.Nested), cloneMap(w.Ignored)
	w.Holds, w.Survey.Agents = cloneMap(w.Holds), cloneMap(w.Survey.Agents)
	writers := cloneMap(w.Survey.Writers)
	for id := range writers {
		writers[id] = slices.Clone(writers[id])
	}
	w.Survey.Writers = writers
	return w
}

func cloneMap[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return nil
	}
	c := make(map[K]V, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}
