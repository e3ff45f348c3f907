package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"ccbot/internal/pause"
)

// kernel is the operating system as a [Table] needs it. Tests replace it with a scripted one.
type kernel interface {
	bootID() (string, error)
	// now reads the clock of Identity.Start, in its unit.
	now() (uint64, error)
	// process reads one process of this boot with its cwd. The error is ErrGone if it does not
	// exist, and errHidden if the process lives but the table does not show it. A zombie is
	// returned as a process.
	process(pid int) (Process, error)
	// processes reads all processes of all users.
	processes(ctx context.Context) ([]Process, error)
	// hold opens a handle on the process that has the pid now, or returns ErrGone.
	hold(pid int) (handle, error)
}

// handle holds one process: while the handle is open it never changes to another process.
type handle interface {
	// exited checks without waiting.
	exited() (bool, error)
	// wait blocks until the process has ended (nil) or ctx has (ctx's error). On Linux it blocks no
	// thread.
	wait(ctx context.Context) error
	// signal is called by Table.End alone.
	signal(syscall.Signal) error
	close()
}

// errHidden means that a process lives but the table does not show it, as with a /proc mounted with
// hidepid. It is not gone.
var errHidden = errors.New("it lives, but the process table hides it")

// Table reads the kernel's process table. It is safe for concurrent use.
type Table struct {
	kernel kernel
	boot   string
	self   Identity
	scans  chan struct{} // one slot for each read of the whole table
}

// NewTable reads the boot id and its own identity once. It fails where the process table does not
// show this very process (no /proc, or that of another pid namespace), because no answer of such a
// table could be believed.
func NewTable() (*Table, error) { return newTable(newKernel(), os.Getpid()) }

func newTable(k kernel, pid int) (*Table, error) {
	boot, err := k.bootID()
	if err != nil {
		return nil, fmt.Errorf("process: boot id: %w", err)
	}
	t := &Table{kernel: k, boot: boot, scans: make(chan struct{}, 4)}
	if t.self, err = t.Identify(pid); err != nil {
		return nil, fmt.Errorf("process: the process table does not show this process: %w", err)
	}
	return t, nil
}

// Self is the identity of this process.
func (t *Table) Self() Identity { return t.self }

// Inspect reads one process. The error is [ErrGone] when there is no process or only a zombie; any
// other error means unknown.
func (t *Table) Inspect(pid int) (Process, error) {
	if pid <= 0 {
		return Process{}, fmt.Errorf("process: inspect pid %d: not a process id", pid)
	}
	p, err := t.kernel.process(pid)
	if err != nil {
		return Process{}, fmt.Errorf("process: inspect pid %d: %w", pid, err)
	}
	if p.Gone() {
		return Process{}, fmt.Errorf("process: inspect pid %d: zombie: %w", pid, ErrGone)
	}
	p.Boot = t.boot
	return p, nil
}

// Identify is the identity of the process that has the pid now; errors as for [Table.Inspect].
func (t *Table) Identify(pid int) (Identity, error) {
	p, err := t.Inspect(pid)
	return p.Identity, err
}

// Snapshot reads every process of every user, zombies included. A process that vanishes during the
// read is omitted. A process of another user that may not be read is present with pid and uid only.
// Any other read error is an error, because an incomplete table would make a live writer look
// absent. If /proc is mounted with hidepid=2, other users' processes are missing, and so are our
// processes that are not dumpable. errHangs means that the read took too long.
func (t *Table) Snapshot(ctx context.Context) (Snapshot, error) {
	all, err := t.scan(ctx)
	if err != nil {
		return Snapshot{}, fmt.Errorf("process: snapshot: %w", err)
	}
	slices.SortFunc(all, func(a, b Process) int { return a.PID - b.PID })
	for i := range all {
		all[i].Boot = t.boot
	}
	s := Snapshot{Processes: all}
	if self, ok := s.Find(t.self.PID); !ok || self.Identity != t.self {
		return Snapshot{}, errors.New("process: snapshot: the process table does not show this process")
	}
	return s, nil
}

// scanTimeout is how long a read of the whole table may take. Usually it takes milliseconds; an
// entry of /proc that belongs to a process that hangs in the kernel may block it for ever.
const scanTimeout = 10 * time.Second

// errHangs means that the process table does not answer: nothing is known.
var errHangs = errors.New("process: the process table does not answer")

// scan reads all processes, or gives up. A read that hangs is abandoned and keeps its slot; when
// all slots are taken by such reads, no new read begins.
func (t *Table) scan(ctx context.Context) ([]Process, error) {
	ctx, cancel := pause.Timeout(ctx, scanTimeout, errHangs)
	defer cancel()
	select {
	case t.scans <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	type table struct {
		all []Process
		err error
	}
	read := make(chan table, 1)
	go func() {
		defer func() { <-t.scans }()
		all, err := t.kernel.processes(ctx)
		read <- table{all, err}
	}()
	select {
	case r := <-read:
		if r.err != nil && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return r.all, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Liveness reports whether exactly this process runs. Another boot or another start time under the
// same pid is Gone, and a zombie is Gone; an incomplete identity, a start of another clock under
// the same pid, or a table that cannot be read, is Unknown.
func (t *Table) Liveness(id Identity) Liveness {
	if !id.Valid() {
		return Unknown
	}
	if !SameBoot(id.Boot, t.boot) {
		return Gone
	}
	now, err := t.Identify(id.PID)
	switch {
	case errors.Is(err, ErrGone):
		return Gone
	case err != nil, now.Incomparable(id):
		return Unknown
	case now != id:
		return Gone
	}
	return Alive
}

// Wait blocks until the process is gone (nil) or ctx ends (its error). On Linux the wait needs no
// thread and no timer. Any other error means that the end could not be found out.
func (t *Table) Wait(ctx context.Context, id Identity) error {
	h, _, err := t.take(id)
	if errors.Is(err, ErrGone) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("process: wait for %s: %w", id, err)
	}
	defer h.close()
	if err := h.wait(ctx); err != nil {
		return fmt.Errorf("process: wait for %s: %w", id, err)
	}
	return nil
}

// take holds exactly the process id and reads it. The order matters: the handle is opened first and
// the process must still be alive after the read; only then are the held process and the read one
// the same. The error is ErrGone when that process is not there. The caller closes the handle.
func (t *Table) take(id Identity) (handle, Process, error) {
	if !id.Valid() {
		return nil, Process{}, errors.New("incomplete identity")
	}
	if !SameBoot(id.Boot, t.boot) {
		return nil, Process{}, fmt.Errorf("of another boot: %w", ErrGone)
	}
	h, err := t.kernel.hold(id.PID)
	if err != nil {
		return nil, Process{}, err
	}
	p, err := t.inspectHeld(h, id)
	if err != nil {
		h.close()
		return nil, Process{}, err
	}
	return h, p, nil
}

func (t *Table) inspectHeld(h handle, id Identity) (Process, error) {
	p, err := t.Inspect(id.PID)
	if err != nil {
		return Process{}, err
	}
	if exited, err := h.exited(); err != nil {
		return Process{}, err
	} else if exited {
		return Process{}, ErrGone
	}
	if p.Incomparable(id) {
		return Process{}, fmt.Errorf("pid %d: its start was read by another clock", id.PID)
	}
	if p.Identity != id {
		return Process{}, fmt.Errorf("pid %d now belongs to another process: %w", id.PID, ErrGone)
	}
	return p, nil
}

// lineage is this process and its ancestors now. With an error it is the part that could be read:
// it ends below a parent that is hidden (hidepid) or cannot be read, and the ancestors of that
// parent are unknown.
func (t *Table) lineage() (Snapshot, error) {
	var line []Process
	var err error
	// A parent that ends during the walk breaks the line; its children then have a new parent.
	for range 3 {
		if line, err = t.walkUp(); !errors.Is(err, ErrGone) {
			break
		}
	}
	return Snapshot{Processes: line}, err
}

func (t *Table) walkUp() (line []Process, _ error) {
	for pid := t.self.PID; ; {
		p, err := t.kernel.process(pid)
		if err != nil {
			return line, fmt.Errorf("read pid %d: %w", pid, err)
		}
		p.Boot = t.boot
		line = append(line, p)
		seen := slices.ContainsFunc(line, func(above Process) bool { return above.PID == p.PPID })
		if p.PPID <= 1 || seen {
			return line, nil
		}
		pid = p.PPID
	}
}

// mayBeAbove reports whether p could be an ancestor that an incomplete line does not show. A parent
// is older than its children, even a parent that adopts them later, so a process that started after
// us is not our ancestor.
func (t *Table) mayBeAbove(p Process, line Snapshot) bool {
	return p.Start <= t.self.Start || len(line.Processes) == 0
}
