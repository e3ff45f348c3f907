package process

import (
	"context"
	"slices"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

// For any table and any target, a signal reaches only the proven process of our user that the
// identity names, and never ccbot itself or its ancestors.
func TestP2_End_signalsOnlyTheProven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := newFake()
		table, err := k.tableOf()
		if err != nil {
			t.Fatal(err)
		}
		others := []int{1}
		for range rapid.IntRange(0, 6).Draw(t, "others") {
			pid := rapid.IntRange(2, 12).Draw(t, "pid")
			others = append(others, pid)
			k.add(Process{Identity: identity(pid), PPID: rapid.SampledFrom([]int{0, 1, 30, 40, 50, 60}).Draw(t, "ppid"),
				UID: rapid.SampledFrom([]int{0, fakeUser}).Draw(t, "uid"), State: rapid.SampledFrom([]byte("SRZ")).Draw(t, "state")})
		}
		// an ancestor of another shape: 40 hangs below one of the random ones
		if rapid.Bool().Draw(t, "adopted") {
			p := k.table[40]
			p.PPID = rapid.SampledFrom(others).Draw(t, "above")
			k.add(p)
		}
		id := identity(rapid.SampledFrom([]int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 30, 40, 50, 60}).Draw(t, "target"))
		id.Start += rapid.SampledFrom([]uint64{0, 0, 1}).Draw(t, "late")
		prove := proven
		if rapid.Bool().Draw(t, "refuse") {
			prove = func(Process) error { return errTest }
		}
		before, above := k.table[id.PID], ancestorsOf(k)
		out, err := table.End(context.Background(), id, prove, nil, Grace{})
		if err != nil {
			t.Fatal(err)
		}
		allowed := before.PID == id.PID && before.Start == id.Start && before.UID == fakeUser && !before.Gone() &&
			id.PID > 1 && id.PID != fakeSelf && !above[id.PID] && prove(before) == nil
		for pid := range k.signals {
			if pid != id.PID || !allowed {
				t.Fatalf("signalled %d: %+v", pid, out)
			}
		}
		if allowed && !(out.Ended && out.Verified) {
			t.Fatalf("spared what was proven: %+v", out)
		}
	})
}

func ancestorsOf(k *fakeKernel) map[int]bool {
	above := map[int]bool{}
	for p, ok := k.table[fakeSelf]; ok && !above[p.PPID]; p, ok = k.table[p.PPID] {
		above[p.PPID] = true
	}
	return above
}

// The world changes arbitrarily from the scan to the last signal: pids are reused, users and
// parents change, processes end or hide. Only the requested and proven process is signalled, if it
// is ours and not above us; and no living process is called ended.
func TestP2_End_inAShiftingWorld(t *testing.T) {
	for range 40 { // few of a hundred worlds get as far as a KILL
		rapid.Check(t, endInAShiftingWorld)
	}
}

func endInAShiftingWorld(t *rapid.T) {
	w := newShifting(t)
	table, err := newTable(w, fakeSelf)
	if err != nil {
		t.Fatal(err)
	}
	asked := &question{w: w, table: table, kind: rapid.SampledFrom([]string{"evidence", "evidence", "anything", "anything", "nothing"}).Draw(t, "prove")}
	id := asked.target()
	w.focus = id.PID
	var noKill error
	if rapid.Bool().Draw(t, "kill is held back") {
		noKill = errTest
	}
	grace := Grace{BeforeKill: func(context.Context) error { w.turn(); asked.noted++; return noKill }}
	var hangUp func(context.Context) error
	if rapid.Bool().Draw(t, "hang up") {
		hangUp = func(context.Context) error {
			w.turn()
			return rapid.SampledFrom([]error{nil, errTest}).Draw(t, "hang-up fails")
		}
	}

	out, err := table.End(context.Background(), id, asked.prove, hangUp, grace)
	if noKill != nil && slices.ContainsFunc(w.log, func(d delivery) bool { return d.sig == syscall.SIGKILL }) {
		t.Fatal("KILL though it was held back")
	}
	asked.check(id)
	w.honest(id, out, err)
	if table.Liveness(id) == Gone && !w.gone(id) {
		t.Fatalf("%s is called gone and lives", id)
	}
}

// check looks at every signal that arrived.
func (q *question) check(id Identity) {
	for i, d := range q.w.log {
		switch {
		case d.wrong != "":
			q.w.t.Fatalf("%v reached %s: %s", d.sig, d.to.id, d.wrong)
		case d.to.id != id:
			q.w.t.Fatalf("%v for %s reached %s", d.sig, id, d.to.id)
		case !q.proven[id]:
			q.w.t.Fatalf("%v without proof", d.sig)
		case d.sig == syscall.SIGKILL && (i == 0 || q.noted != 1):
			q.w.t.Fatalf("KILL is signal %d, after %d notes", i, q.noted)
		}
	}
}

// honest checks that the receipt is true.
func (w *shifting) honest(id Identity, out Outcome, err error) {
	switch {
	case out.Ended && !w.gone(id):
		w.t.Fatalf("called ended and lives: %+v", out)
	case !out.Ended && err == nil && out.Reason == "":
		w.t.Fatalf("neither ended nor spared: %+v", out)
	case (out.Reason == "") != (out.Spared == "") || out.Ended && out.Reason != "":
		w.t.Fatalf("reason %q for %q", out.Reason, out.Spared)
	}
}

// gone also of one that never was.
func (w *shifting) gone(id Identity) bool {
	i := slices.IndexFunc(w.all, func(b *being) bool { return b.id == id })
	return i < 0 || w.all[i].exited
}

// question is a process that a caller wants to end, with its proof.
type question struct {
	w      *shifting
	table  *Table
	kind   string
	proven map[Identity]bool
	noted  int // calls of BeforeKill
}

// target is found in a scan, as callers do, or is any process, or one that never existed.
func (q *question) target() Identity {
	s, err := q.table.Snapshot(context.Background())
	if err != nil {
		q.w.t.Fatal(err)
	}
	for _, v := range Judge(s, nil, claudeNames, idX) {
		if v.Writer == Yes && rapid.Bool().Draw(q.w.t, "take") {
			return v.Process.Identity
		}
	}
	among := s.Processes
	if i := slices.IndexFunc(among, func(p Process) bool { return p.PID >= 60 }); i >= 0 && rapid.IntRange(0, 4).Draw(q.w.t, "stranger") > 0 {
		among = among[i:]
	}
	id := rapid.SampledFrom(among).Draw(q.w.t, "target").Identity
	id.Start += rapid.SampledFrom([]uint64{0, 0, 0, 0, 0, 0, 0, 1}).Draw(q.w.t, "late")
	return id
}

func (q *question) prove(p Process) error {
	q.w.turn()
	switch q.kind {
	case "nothing":
		return &Spare{Reason: "test"}
	case "evidence":
		if err := q.judge(p); err != nil {
			return err
		}
	}
	q.proven = map[Identity]bool{p.Identity: true}
	q.w.turn()
	return nil
}

// judge is the proof of a real caller: a fresh look, every guard, and a yes for exactly this
// process.
func (q *question) judge(p Process) error {
	s, err := q.table.Snapshot(context.Background())
	if err != nil {
		return err
	}
	if name, spared := SparedBy(p, s, StandardGuards(q.table.Self(), claudeNames)); spared {
		return &Spare{Reason: name}
	}
	for _, v := range Judge(s, nil, claudeNames, idX) {
		if v.Writer != Yes {
			continue
		}
		if !q.w.writes[v.Process.Identity] {
			q.w.t.Fatalf("yes for %s, which does not write it: %q", v.Process.Identity, v.Process.Args)
		}
		if v.Process.Identity == p.Identity {
			return nil
		}
	}
	return errTest
}
