package process

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func proven(Process) error { return nil }

var errTest = errors.New("broken")

func TestP2_End_spares(t *testing.T) {
	change := func(pid int, f func(*Process)) func(*fakeKernel) {
		return func(k *fakeKernel) { p := k.table[pid]; f(&p); k.add(p) }
	}
	refuses := func(err error) func(Process) error { return func(Process) error { return err } }
	tests := []struct {
		name    string
		id      Identity
		prepare func(*fakeKernel)
		prove   func(Process) error // nil: none is given
		why     string
		reason  string
		failed  bool // with an error as well
	}{
		{"no start time", Identity{PID: 60, Boot: "boot"}, nil, proven, "incomplete", GuardIdentity, false},
		{"no boot", Identity{PID: 60, Start: 1060}, nil, proven, "incomplete", GuardIdentity, false},
		{"nothing at all", Identity{}, nil, proven, "incomplete", GuardIdentity, false},
		{"pid 1", identity(1), nil, proven, "pid 1", guardPID1, false},
		{"ourselves", identity(fakeSelf), nil, proven, "itself", guardSelf, false},
		{"parent", identity(40), nil, proven, "ancestor", GuardAncestor, false},
		{"grandparent", identity(30), nil, proven, "ancestor", GuardAncestor, false},
		{"another user", identity(60), change(60, func(p *Process) { p.UID = 0 }), proven, "another user", GuardUser, false},
		{"a tmux server", identity(60), change(60, func(p *Process) { p.Comm = "tmux: server" }), proven, "tmux", GuardTmux, false},
		{"a tmux client", identity(60), change(60, func(p *Process) { p.Args = []string{"tmux", "attach"} }), proven, "tmux", GuardTmux, false},
		{"a parent that is hidden", identity(30), func(k *fakeKernel) { k.readErr[30] = errHidden }, proven, "cannot be read", ReasonUnreadable, true},
		{"not proven", identity(60), nil, refuses(errTest), "not proven: broken", ReasonUnproven, false},
		{"not proven, with a reason", identity(60), nil, refuses(&Spare{GuardNoAgent, "a shell"}), "a shell", GuardNoAgent, false},
		{"not proven, with a reason inside", identity(60), nil, refuses(fmt.Errorf("look: %w", &Spare{Reason: "second"})), "look: second", "second", false},
		{"not proven, with an empty reason", identity(60), nil, refuses(&Spare{}), "", ReasonUnproven, false},
		{"no proof given", identity(60), nil, nil, "nothing proves it", ReasonUnproven, false},
		{"unreadable", identity(60), func(k *fakeKernel) { k.readErr[60] = errTest }, proven, "cannot be read", ReasonUnreadable, true},
		{"hidden", identity(60), func(k *fakeKernel) { k.readErr[60] = errHidden }, proven, "cannot be read", ReasonUnreadable, true},
		{"no descriptor left", identity(60), func(k *fakeKernel) { k.holdErr = syscall.EMFILE }, proven, "cannot be read", ReasonUnreadable, true},
		{"ancestors unreadable, and it is older than we", identity(20), func(k *fakeKernel) { k.readErr[40] = errTest }, proven, "ancestors", ReasonUnreadable, true},
		{"ancestors hidden, and it is older than we", identity(20), func(k *fakeKernel) { k.readErr[30] = errHidden }, proven, "ancestors", ReasonUnreadable, true},
		{"ancestors that vanish again and again", identity(20), func(k *fakeKernel) { delete(k.table, 30) }, proven, "ancestors", ReasonUnreadable, true},
		{"ancestors unreadable, and it is as old as we", Identity{60, identity(fakeSelf).Start, "boot"}, func(k *fakeKernel) {
			k.readErr[40] = errTest
			change(60, func(p *Process) { p.Start = identity(fakeSelf).Start })(k)
		}, proven, "ancestors", ReasonUnreadable, true},
		{"ourselves unreadable", identity(60), func(k *fakeKernel) { k.readErr[fakeSelf] = errTest }, proven, "ancestors", ReasonUnreadable, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			k := newFake()
			table, err := k.tableOf()
			require.NoError(t, err)
			if test.prepare != nil {
				test.prepare(k)
			}
			hungUp := false
			out, err := table.End(t.Context(), test.id, test.prove, func(context.Context) error { hungUp = true; return nil }, Grace{})
			assert.Equal(t, test.failed, err != nil)
			assert.Contains(t, out.Spared, test.why)
			assert.Equal(t, test.reason, out.Reason)
			assert.Empty(t, out.How)
			assert.False(t, out.Ended)
			assert.False(t, hungUp)
			require.Error(t, table.Continue(test.id, test.prove))
			assert.Empty(t, k.signals)
		})
	}
}

// TestP2_ContinueSignalsOneProcess: SIGCONT goes to the proven process alone, and not to its group.
func TestP2_ContinueSignalsOneProcess(t *testing.T) {
	k := newFake()
	table, err := k.tableOf()
	require.NoError(t, err)
	require.NoError(t, table.Continue(identity(60), proven))
	assert.Equal(t, map[int][]syscall.Signal{60: {syscall.SIGCONT}}, k.signals)
	require.ErrorIs(t, table.Continue(identity(61), proven), ErrGone)
	assert.Len(t, k.signals, 1)
}

// If the kernel hides other users' processes, the chain of our ancestors ends at an unknown one. A
// process that started after us is still not above us, and can be ended.
func TestP3_End_belowHiddenAncestors(t *testing.T) {
	for _, hidden := range []error{errHidden, syscall.EACCES, syscall.EPERM, errTest} {
		t.Run(hidden.Error(), func(t *testing.T) {
			k := newFake()
			table, err := k.tableOf()
			require.NoError(t, err)
			k.readErr[40] = hidden
			out, err := table.End(t.Context(), identity(60), proven, nil, Grace{})
			require.NoError(t, err)
			assert.Equal(t, HowTerm, out.How)

			line, err := table.lineage()
			assert.ErrorIs(t, err, hidden)
			assert.True(t, isAncestor(line, 40, table.Self()), "the hidden one itself is known")
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

// The order is the proof: the read process is the held one, because the hold came first and still
// lives after the read.
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
	assert.Equal(t, []string{"hold 60", "read 60", "poll", "read 50", "read 40", "read 30", "prove",
		"read 60", "poll", "read 50", "read 40", "read 30", "terminated", "read 60"}, k.log)
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

func TestP6_End_stopsAfterFailedStep(t *testing.T) {
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
