package tabletest

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"ccbot/internal/process"
)

const (
	// Boot is the boot of all processes of a Table.
	Boot = "8d6c7a52-0000-4000-8000-000000000001"
	// Tick is the unit of the time at which a process started.
	Tick = 10 * time.Millisecond
	// Never is in the place of the step that ends a process for one that survives them all.
	Never process.How = "never"

	// User is the user of all processes.
	User = 1000

	self = 4_000_000 // the pid of ccbot

	// longAgo is a moment before everything that a test does; clockStart is now when it begins.
	longAgo    = 1_000
	clockStart = 1_000_000_000
)

// Table is a process table in memory. It is safe for concurrent use.
type Table struct {
	// Continued are the processes that got SIGCONT.
	Continued []process.Identity
	// Noted is called right before each step that ends a process. Set before use.
	Noted func(id process.Identity, how process.How)

	begun time.Time // the time at clockStart

	mu      sync.Mutex
	self    process.Identity
	all     []process.Process
	gone    map[process.Identity]chan struct{}
	yields  map[int]process.How // the first step that ends it; a hang-up unless it is here
	blind   bool                // no liveness is known
	failing error               // of Snapshot
	hidden  map[int]error       // of Inspect
	stopped error               // of Moment
	onStep  func(id process.Identity, how process.How)
	skew    uint64             // additional ticks of the clock
	scans   int                // of Snapshot
	acted   []process.Identity // processes hung up or signalled
}

// New returns a table in which only ccbot runs.
func New() *Table {
	t := &Table{begun: time.Now(), gone: map[process.Identity]chan struct{}{}, yields: map[int]process.How{}, hidden: map[int]error{}}
	t.self = t.Start(self, []string{"ccbot", "run"})
	return t
}

// RestartSelf ends ccbot and starts it again, with the next pid.
func (t *Table) RestartSelf() {
	pid := t.Self().PID
	t.Exit(pid)
	id := t.StartNow(pid+1, []string{"ccbot", "run"})
	t.mu.Lock()
	defer t.mu.Unlock()
	t.self = id
}

// Start adds a process that has been running since long ago.
func (t *Table) Start(pid int, argv []string, change ...func(*process.Process)) process.Identity {
	return t.StartAt(uint64(longAgo+pid%1_000_000), pid, argv, change...)
}

// StartNow starts a process after everything that has happened so far.
func (t *Table) StartNow(pid int, argv []string, change ...func(*process.Process)) process.Identity {
	now, _ := t.Moment()
	id := t.StartAt(now.Tick, pid, argv, change...)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.skew++ // each reading is later than the previous one
	return id
}

// StartAt adds a process that started at a tick.
func (t *Table) StartAt(tick uint64, pid int, argv []string, change ...func(*process.Process)) process.Identity {
	p := process.Process{Identity: process.Identity{PID: pid, Start: tick, Boot: Boot}, PPID: 1, UID: User, SID: pid, PGID: pid,
		State: 'S', Foreground: -1, Comm: filepath.Base(argv[0]), Args: argv}
	for _, c := range change {
		c(&p)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.ContainsFunc(t.all, func(q process.Process) bool { return q.PID == pid }) {
		panic("the pid is taken")
	}
	t.all = append(t.all, p)
	t.gone[p.Identity] = make(chan struct{})
	return p.Identity
}

// Below makes a process another one's child.
func Below(parent int) func(*process.Process) {
	return func(p *process.Process) { p.PPID = parent }
}

// Exit ends a process by itself. Its children go to pid 1.
func (t *Table) Exit(pid int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.exitLocked(pid)
}

func (t *Table) exitLocked(pid int) {
	t.all = slices.DeleteFunc(t.all, func(p process.Process) bool {
		if p.PID == pid {
			close(t.gone[p.Identity])
		}
		return p.PID == pid
	})
	for i := range t.all {
		if t.all[i].PPID == pid {
			t.all[i].PPID = 1
		}
	}
}

// Change changes what the table shows of a process.
func (t *Table) Change(pid int, change func(*process.Process)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.all {
		if t.all[i].PID == pid {
			change(&t.all[i])
		}
	}
}

// FailSnapshots makes every reading of all processes fail; nil makes them succeed again.
func (t *Table) FailSnapshots(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failing = err
}

// Hide makes every reading of one process fail; nil shows it again.
func (t *Table) Hide(pid int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hidden[pid] = err
}

// StopClock makes every reading of the clock fail.
func (t *Table) StopClock(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = err
}

// HideLiveness makes the liveness of every process unknown, or known again.
func (t *Table) HideLiveness(blind bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.blind = blind
}

// OnStep calls a function right before each step that ends a process; nil ends that.
func (t *Table) OnStep(tell func(id process.Identity, how process.How)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.onStep = tell
}

// YieldsTo sets the step that ends a process.
func (t *Table) YieldsTo(pid int, how process.How) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.yields[pid] = how
}

// Alive reports whether exactly this process is in the table.
func (t *Table) Alive(id process.Identity) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(t.all, func(p process.Process) bool { return p.Identity == id })
}

// Signalled returns the processes that were hung up or signalled, each once.
func (t *Table) Signalled() []process.Identity {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.acted)
}

// Scanned returns how often all processes were read.
func (t *Table) Scanned() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.scans
}

// Self returns the process of ccbot.
func (t *Table) Self() process.Identity {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.self
}

// Moment returns the present moment.
func (t *Table) Moment() (process.Moment, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped != nil {
		return process.Moment{}, t.stopped
	}
	return process.Moment{Boot: Boot, Tick: clockStart + t.skew + uint64(time.Since(t.begun)/Tick)}, nil
}

// Inspect reads one process.
func (t *Table) Inspect(pid int) (process.Process, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.hidden[pid]; err != nil {
		return process.Process{}, err
	}
	if p, ok := (process.Snapshot{Processes: t.all}).Find(pid); ok && !p.Gone() {
		p.Cwd = "/src"
		return p, nil
	}
	return process.Process{}, process.ErrGone
}

// Snapshot reads all processes.
func (t *Table) Snapshot(context.Context) (process.Snapshot, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.scans++
	if t.failing != nil {
		return process.Snapshot{}, t.failing
	}
	all := slices.Clone(t.all)
	slices.SortFunc(all, func(a, b process.Process) int { return a.PID - b.PID })
	return process.Snapshot{Processes: all}, nil
}

// Liveness reports whether exactly this process runs.
func (t *Table) Liveness(id process.Identity) process.Liveness {
	t.mu.Lock()
	blind := t.blind
	t.mu.Unlock()
	if blind || !id.Valid() {
		return process.Unknown
	}
	p, err := t.Inspect(id.PID)
	switch {
	case id.Boot != Boot, errors.Is(err, process.ErrGone):
		return process.Gone
	case err != nil:
		return process.Unknown
	case p.Identity != id:
		return process.Gone
	}
	return process.Alive
}

// Wait blocks until the process is gone or ctx ends.
func (t *Table) Wait(ctx context.Context, id process.Identity) error {
	t.mu.Lock()
	gone, ok := t.gone[id]
	t.mu.Unlock()
	if !ok {
		return nil
	}
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
