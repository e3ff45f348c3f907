package process

import (
	"cmp"
	"context"
	"fmt"
	"syscall"
)

// fakeKernel is one whose table and answers a test writes down. It logs what was done, in order.
type fakeKernel struct {
	hangs    chan struct{} // a scan waits until it is closed
	table    map[int]Process
	readErr  map[int]error // instead of a process
	holdErr  error
	handle   func(pid int) *fakeHandle // nil: a process that ends at the first signal
	boot     string                    // empty: "boot"
	clock    uint64
	clockErr error
	opened   *fakeHandle // the last one
	log      []string
	signals  map[int][]syscall.Signal
}

const fakeSelf, fakeUser = 50, 1000

// newFake is a table with ourselves (50), our parent (40), its parent (30), pid 1, a claude (60),
// and an older one (20).
func newFake() *fakeKernel {
	k := &fakeKernel{table: map[int]Process{}, readErr: map[int]error{}, signals: map[int][]syscall.Signal{}}
	for _, p := range []struct{ pid, ppid int }{{1, 0}, {30, 1}, {40, 30}, {fakeSelf, 40}, {60, 1}, {20, 1}} {
		k.add(Process{Identity: identity(p.pid), PPID: p.ppid, UID: fakeUser, State: 'S', Args: []string{"claude"}})
	}
	return k
}

func (k *fakeKernel) add(p Process) {
	p.Boot = ""
	k.table[p.PID] = p
}

func (k *fakeKernel) tableOf() (*Table, error) { return newTable(k, fakeSelf) }

func (k *fakeKernel) bootID() (string, error) { return cmp.Or(k.boot, "boot"), nil }

func (k *fakeKernel) now() (uint64, error) { return k.clock, k.clockErr }

func (k *fakeKernel) process(pid int) (Process, error) {
	k.log = append(k.log, fmt.Sprint("read ", pid))
	if err := k.readErr[pid]; err != nil {
		return Process{}, err
	}
	p, ok := k.table[pid]
	if !ok {
		return Process{}, ErrGone
	}
	return p, nil
}

func (k *fakeKernel) processes(context.Context) ([]Process, error) {
	if k.hangs != nil {
		<-k.hangs
	}
	var all []Process
	for _, p := range k.table {
		all = append(all, p)
	}
	return all, nil
}

func (k *fakeKernel) hold(pid int) (handle, error) {
	k.log = append(k.log, fmt.Sprint("hold ", pid))
	if k.holdErr != nil {
		return nil, k.holdErr
	}
	if _, ok := k.table[pid]; !ok {
		return nil, ErrGone
	}
	h := &fakeHandle{endsAt: 1}
	if k.handle != nil {
		h = k.handle(pid)
	}
	h.kernel, h.pid, h.gone, k.opened = k, pid, make(chan struct{}), h
	return h, nil
}

// fakeHandle ends at the endsAt-th signal, or never when that is 0.
type fakeHandle struct {
	kernel           *fakeKernel
	pid              int
	endsAt           int
	dead             bool  // the handle reports an exit, regardless of the table
	signalErr        error // instead of delivery
	endsBeforeSignal bool
	endsAtDeadline   bool
	gone             chan struct{}
	closed           bool
}

func (h *fakeHandle) exited() (bool, error) {
	h.kernel.log = append(h.kernel.log, "poll")
	select {
	case <-h.gone:
		return true, nil
	default:
		return h.dead, nil
	}
}

func (h *fakeHandle) end() {
	delete(h.kernel.table, h.pid)
	close(h.gone)
}

func (h *fakeHandle) wait(ctx context.Context) error {
	select {
	case <-h.gone:
		return nil
	case <-ctx.Done():
		if h.endsAtDeadline {
			h.end()
		}
		return ctx.Err()
	}
}

func (h *fakeHandle) signal(sig syscall.Signal) error {
	h.kernel.log = append(h.kernel.log, sig.String())
	if h.signalErr != nil {
		return h.signalErr
	}
	if h.endsBeforeSignal {
		h.end()
		return syscall.ESRCH
	}
	h.kernel.signals[h.pid] = append(h.kernel.signals[h.pid], sig)
	if len(h.kernel.signals[h.pid]) == h.endsAt {
		h.end()
	}
	return nil
}

func (h *fakeHandle) close() { h.closed = true }
