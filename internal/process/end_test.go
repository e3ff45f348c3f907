package process

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func proven(Process) error { return nil }

var errTest = errors.New("broken")

func TestP2_End_spares(t *testing.T) {
	tests := []struct {
		name    string
		id      Identity
		prepare func(*fakeKernel)
		prove   func(Process) error
		why     string
		failed  bool // with an error as well
	}{
		{name: "no start time", id: Identity{PID: 60, Boot: "boot"}, why: "incomplete"},
		{name: "no boot", id: Identity{PID: 60, Start: 1060}, why: "incomplete"},
		{name: "nothing at all", id: Identity{}, why: "incomplete"},
		{name: "pid 1", id: identity(1), why: "pid 1"},
		{name: "ourselves", id: identity(fakeSelf), why: "itself"},
		{name: "parent", id: identity(40), why: "ancestor"},
		{name: "grandparent", id: identity(30), why: "ancestor"},
		{name: "another user", id: identity(60), prepare: func(k *fakeKernel) { p := k.table[60]; p.UID = 0; k.add(p) }, why: "another user"},
		{name: "not proven", id: identity(60), prove: func(Process) error { return errTest }, why: "not proven: broken"},
		{name: "no proof given", id: identity(60), prove: nil, why: "nothing proves it"},
		{name: "unreadable", id: identity(60), prepare: func(k *fakeKernel) { k.readErr[60] = errTest }, why: "cannot be read", failed: true},
		{name: "no descriptor left", id: identity(60), prepare: func(k *fakeKernel) { k.holdErr = syscall.EMFILE }, why: "cannot be read", failed: true},
		{name: "ancestors unreadable", id: identity(60), prepare: func(k *fakeKernel) { k.readErr[40] = errTest }, why: "ancestors", failed: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			k := newFake()
			table, err := k.tableOf()
			require.NoError(t, err)
			if test.prepare != nil {
				test.prepare(k)
			}
			prove := test.prove
			if prove == nil && test.name != "no proof given" {
				prove = proven
			}
			hungUp := false
			out, err := table.End(t.Context(), test.id, prove, func(context.Context) error { hungUp = true; return nil }, Grace{})
			assert.Equal(t, test.failed, err != nil)
			assert.Contains(t, out.Spared, test.why)
			assert.False(t, out.Ended)
			assert.False(t, hungUp)
			assert.Empty(t, k.signals)
		})
	}
}

func TestP2_End_goneIsNotSignalled(t *testing.T) {
	tests := []struct {
		name    string
		id      Identity
		prepare func(*fakeKernel)
	}{
		{"no such pid", identity(61), nil},
		{"pid reused", Identity{60, 5, "boot"}, nil},
		{"earlier boot", Identity{60, 1060, "earlier"}, nil},
		{"zombie", identity(60), func(k *fakeKernel) { p := k.table[60]; p.State = 'Z'; k.add(p) }},
		{"ended while it was read", identity(60), func(k *fakeKernel) {
			k.handle = func(int) *fakeHandle { return &fakeHandle{dead: true} }
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			k := newFake()
			table, err := k.tableOf()
			require.NoError(t, err)
			if test.prepare != nil {
				test.prepare(k)
			}
			out, err := table.End(t.Context(), test.id, func(Process) error { t.Error("asked about another process"); return nil }, nil, Grace{})
			require.NoError(t, err)
			assert.Equal(t, Outcome{Process: Process{Identity: test.id}, How: HowAlreadyGone, Ended: true, Verified: true}, out)
			assert.Empty(t, k.signals)
		})
	}
}

// The order is the proof: what is read is what is held, because the hold came first and still lives after the read.
func TestP2_End_holdsReadsPollsThenDecides(t *testing.T) {
	k := newFake()
	table, err := k.tableOf()
	require.NoError(t, err)
	var h *fakeHandle
	k.handle = func(int) *fakeHandle { h = &fakeHandle{endsAt: 1}; return h }
	k.log = nil
	_, err = table.End(t.Context(), identity(60), func(p Process) error {
		assert.Equal(t, identity(60), p.Identity)
		k.log = append(k.log, "prove")
		return nil
	}, nil, Grace{})
	require.NoError(t, err)
	assert.Equal(t, []string{"hold 60", "read 60", "poll", "read 50", "read 40", "read 30", "prove", "poll", "terminated", "read 60"}, k.log)
	assert.True(t, h.closed)
}

func TestP3_End_escalates(t *testing.T) {
	ended := func(context.Context) error { return nil }
	tests := []struct {
		name    string
		endsAt  int // signals it takes; 0: it survives
		hangUp  func(context.Context) error
		how     How
		signals []syscall.Signal
		after   time.Duration
		err     error
	}{
		{"TERM at once without a hang-up", 1, nil, HowTerm, []syscall.Signal{syscall.SIGTERM}, 0, nil},
		{"TERM two seconds after the hang-up", 1, ended, HowTerm, []syscall.Signal{syscall.SIGTERM}, 2 * time.Second, nil},
		{"KILL twelve seconds after the hang-up", 2, ended, HowKill, []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}, 12 * time.Second, nil},
		{"KILL twelve seconds after TERM without one", 2, nil, HowKill, []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}, 12 * time.Second, nil},
		{"TERM at once when the hang-up fails", 1, func(context.Context) error { return errTest }, HowTerm, []syscall.Signal{syscall.SIGTERM}, 0, nil},
		{"a hang-up that hangs is cut off", 1, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, HowTerm, []syscall.Signal{syscall.SIGTERM}, 2 * time.Second, nil},
		{"survivor", 0, ended, HowKill, []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}, 12*time.Second + afterKill, ErrSurvived},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newFake()
				table, err := k.tableOf()
				require.NoError(t, err)
				k.handle = func(int) *fakeHandle { return &fakeHandle{endsAt: test.endsAt} }
				start := time.Now()
				out, err := table.End(t.Context(), identity(60), proven, test.hangUp, Grace{})
				assert.ErrorIs(t, err, test.err)
				assert.Equal(t, test.how, out.How)
				assert.Equal(t, test.err == nil, out.Ended)
				assert.Equal(t, test.err == nil, out.Verified)
				assert.Equal(t, test.signals, k.signals[60])
				assert.Equal(t, test.after, time.Since(start))
			})
		})
	}
}

func TestP3_End_hangUpIsEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newFake()
		table, err := k.tableOf()
		require.NoError(t, err)
		var h *fakeHandle
		k.handle = func(int) *fakeHandle { h = &fakeHandle{}; return h }
		out, err := table.End(t.Context(), identity(60), proven, func(context.Context) error { h.end(); return nil }, Grace{})
		require.NoError(t, err)
		assert.Equal(t, HowHangUp, out.How)
		assert.True(t, out.Ended && out.Verified)
		assert.Empty(t, k.signals)
	})
}

func TestP6_End_stopsWhenItCannotGoOn(t *testing.T) {
	t.Run("the caller gives up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			k := newFake()
			table, err := k.tableOf()
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			out, err := table.End(ctx, identity(60), proven, func(context.Context) error { cancel(); return nil }, Grace{})
			assert.ErrorIs(t, err, context.Canceled)
			assert.False(t, out.Ended)
			assert.Empty(t, k.signals)
		})
	})
	t.Run("the kernel refuses the signal", func(t *testing.T) {
		k := newFake()
		table, err := k.tableOf()
		require.NoError(t, err)
		k.handle = func(int) *fakeHandle { return &fakeHandle{signalErr: syscall.EPERM} }
		out, err := table.End(t.Context(), identity(60), proven, func(context.Context) error { return errTest }, Grace{})
		assert.ErrorIs(t, err, syscall.EPERM)
		assert.ErrorIs(t, err, errTest, "the failed hang-up is told with it")
		assert.False(t, out.Ended)
	})
}

func TestP6_Liveness(t *testing.T) {
	k := newFake()
	table, err := k.tableOf()
	require.NoError(t, err)
	k.readErr[30] = errTest
	k.add(Process{Identity: identity(70), State: 'Z'})
	tests := []struct {
		name string
		id   Identity
		want Liveness
	}{
		{"alive", identity(60), Alive},
		{"zombie", identity(70), Gone},
		{"absent", identity(61), Gone},
		{"other start", Identity{60, 5, "boot"}, Gone},
		{"other boot", Identity{60, 1060, "earlier"}, Gone},
		{"unreadable", identity(30), Unknown},
		{"no start time", Identity{PID: 61, Boot: "boot"}, Unknown},
		{"no boot", Identity{PID: 61, Start: 5}, Unknown},
		{"zero", Identity{}, Unknown},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, test.want, table.Liveness(test.id), test.want.String())
		})
	}
	assert.Equal(t, Unknown, Liveness(0))
	assert.Equal(t, Maybe, Answer(0))
}

// Whatever the table looks like and whoever is asked for: a signal reaches only the proven process of our user that the
// identity names, and never ourselves or anyone above us.
func TestP2_End_signalsOnlyTheProven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := newFake()
		table, err := k.tableOf()
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 6).Draw(t, "others") {
			pid := rapid.IntRange(2, 12).Draw(t, "pid")
			k.add(Process{Identity: identity(pid), PPID: rapid.SampledFrom([]int{0, 1, 30, 40, 50, 60}).Draw(t, "ppid"),
				UID: rapid.SampledFrom([]int{0, fakeUser}).Draw(t, "uid"), State: rapid.SampledFrom([]byte("SRZ")).Draw(t, "state")})
		}
		if rapid.Bool().Draw(t, "adopted") { // an ancestor of another shape: 40 hangs below one of the random ones
			p := k.table[40]
			p.PPID = rapid.IntRange(2, 12).Draw(t, "above")
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
