package process

import (
	"context"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A proven process may become another user's, our parent or unreadable between the steps: then no
// signal follows.
func TestP2_End_looksAgainBeforeEachSignal(t *testing.T) {
	changes := []struct {
		name   string
		change func(*fakeKernel)
		reason string
		failed bool
	}{
		{"it is another user's", func(k *fakeKernel) { p := k.table[60]; p.UID = 0; k.add(p) }, GuardUser, false},
		{"it has become our parent", func(k *fakeKernel) { p := k.table[fakeSelf]; p.PPID = 60; k.add(p) }, GuardAncestor, false},
		{"it has become tmux", func(k *fakeKernel) { p := k.table[60]; p.Comm = "tmux: server"; k.add(p) }, GuardTmux, false},
		{"it cannot be read", func(k *fakeKernel) { k.readErr[60] = errTest }, ReasonUnreadable, true},
		{"it is hidden", func(k *fakeKernel) { k.readErr[60] = errHidden }, ReasonUnreadable, true},
		{"the table says gone, the handle does not", func(k *fakeKernel) { delete(k.table, 60) }, ReasonUnreadable, true},
		{"we cannot be read", func(k *fakeKernel) { k.readErr[fakeSelf] = errTest }, ReasonUnreadable, true},
	}
	for _, test := range changes {
		t.Run("before TERM: "+test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newFake()
				out, err := endFake(t, k, func(context.Context) error { test.change(k); return nil }, Grace{})
				assert.Equal(t, test.failed, err != nil)
				assert.Equal(t, test.reason, out.Reason)
				assert.NotEmpty(t, out.Spared)
				assert.Equal(t, HowHangUp, out.How)
				assert.False(t, out.Ended)
				assert.Empty(t, k.signals)
			})
		})
		t.Run("before KILL: "+test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newFake()
				out, err := endFake(t, k, nil, Grace{BeforeKill: func(context.Context) error { test.change(k); return nil }})
				assert.Equal(t, test.failed, err != nil)
				assert.Equal(t, test.reason, out.Reason)
				assert.Equal(t, HowTerm, out.How)
				assert.False(t, out.Ended)
				assert.Equal(t, []syscall.Signal{syscall.SIGTERM}, k.signals[60])
			})
		})
	}
	t.Run("the failed hang-up is told with the refusal", func(t *testing.T) {
		k := newFake()
		out, err := endFake(t, k, func(context.Context) error { changes[0].change(k); return errTest }, Grace{})
		assert.ErrorIs(t, err, errTest)
		assert.Equal(t, GuardUser, out.Reason)
	})
}

// endFake ends process 60 of k, which survives everything.
func endFake(t *testing.T, k *fakeKernel, hangUp func(context.Context) error, g Grace) (Outcome, error) {
	t.Helper()
	table, err := k.tableOf()
	require.NoError(t, err)
	k.handle = func(int) *fakeHandle { return &fakeHandle{} }
	return table.End(t.Context(), identity(60), proven, hangUp, g)
}

func TestP3_End_beforeKill(t *testing.T) {
	errSpare := &Spare{Reason: "x"}
	term, kill := []syscall.Signal{syscall.SIGTERM}, []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}
	tests := []struct {
		name    string
		endsAt  int
		before  func(k *fakeKernel, cancel context.CancelFunc) error
		calls   int
		signals []syscall.Signal
		how     How
		ended   bool
		err     error
	}{
		{"not when TERM was enough", 1, nil, 0, term, HowTerm, true, nil},
		{"once, then KILL", 2, nil, 1, kill, HowKill, true, nil},
		{"once for a survivor", 0, nil, 1, kill, HowKill, false, ErrSurvived},
		{"an error keeps KILL back", 2, func(*fakeKernel, context.CancelFunc) error { return errTest }, 1, term, HowTerm, false, errTest},
		{"an error that looks like a refusal is an error", 2, func(*fakeKernel, context.CancelFunc) error { return errSpare },
			1, term, HowTerm, false, errSpare},
		{"the caller gives up meanwhile", 2, func(_ *fakeKernel, cancel context.CancelFunc) error { cancel(); return nil },
			1, term, HowTerm, false, context.Canceled},
		{"it ends meanwhile", 2, func(k *fakeKernel, _ context.CancelFunc) error { k.opened.end(); return nil }, 1, term, HowTerm, true, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newFake()
				table, err := k.tableOf()
				require.NoError(t, err)
				k.handle = func(int) *fakeHandle { return &fakeHandle{endsAt: test.endsAt} }
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				calls, start := 0, time.Now()
				out, err := table.End(ctx, identity(60), proven, nil, Grace{BeforeKill: func(context.Context) error {
					calls++
					assert.Equal(t, term, k.signals[60])
					assert.Equal(t, 12*time.Second, time.Since(start))
					if test.before == nil {
						return nil
					}
					return test.before(k, cancel)
				}})
				assert.ErrorIs(t, err, test.err)
				assert.Equal(t, test.calls, calls)
				assert.Equal(t, test.signals, k.signals[60])
				assert.Equal(t, test.how, out.How)
				assert.Equal(t, test.ended, out.Ended)
				assert.Empty(t, out.Reason)
				assert.Empty(t, out.Spared)
			})
		})
	}
}

func TestP3_End_noNoteAfterLateEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newFake()
		table, err := k.tableOf()
		require.NoError(t, err)
		k.handle = func(int) *fakeHandle { return &fakeHandle{endsAtDeadline: true} }
		out, err := table.End(t.Context(), identity(60), proven, nil, Grace{BeforeKill: func(context.Context) error {
			t.Error("nothing is left to be killed")
			return nil
		}})
		require.NoError(t, err)
		assert.Equal(t, HowTerm, out.How)
		assert.Equal(t, []syscall.Signal{syscall.SIGTERM}, k.signals[60])
	})
}

// A process that ends by itself between the steps was not ended by the step that came too late.
func TestP3_End_endsByItself(t *testing.T) {
	tests := []struct {
		name string
		how  How
		end  func(k *fakeKernel) (prove func(Process) error, hangUp func(context.Context) error)
	}{
		{"while it is proven", HowAlreadyGone, func(k *fakeKernel) (func(Process) error, func(context.Context) error) {
			return func(Process) error { k.opened.end(); return nil }, nil
		}},
		{"right before the signal", HowAlreadyGone, func(k *fakeKernel) (func(Process) error, func(context.Context) error) {
			k.handle = func(int) *fakeHandle { return &fakeHandle{endsBeforeSignal: true} }
			return proven, nil
		}},
		{"during a hang-up that fails", HowHangUp, func(k *fakeKernel) (func(Process) error, func(context.Context) error) {
			return proven, func(context.Context) error { k.opened.end(); return errTest }
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			k := newFake()
			table, err := k.tableOf()
			require.NoError(t, err)
			prove, hangUp := test.end(k)
			out, err := table.End(t.Context(), identity(60), prove, hangUp, Grace{})
			require.NoError(t, err)
			assert.Equal(t, test.how, out.How)
			assert.True(t, out.Ended && out.Verified)
			assert.Empty(t, k.signals)
		})
	}
}
