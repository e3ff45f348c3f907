package lifecycle

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
	boot = "8d6c7a52-0000-4000-8000-000000000001"

	me   = 4_000_000 // ccbot
	user = 1000

	// longAgo is a moment before everything that a test does; clockStart is now when it begins.
	longAgo    = 1_000
	clockStart = 1_000_000_000
	oneTick    = 10 * time.Millisecond
)

// never is in the place of the step that ends a process for one that survives them all.
const never process.How = "never"

// processes is a process table in memory. Its End takes the steps of the real
// one, with their guards and at their times.
type processes struct {
	order *order
	begun time.Time // the time at clockStart

	mu       sync.Mutex
	self     process.Identity
	all      []process.Process
	gone     map[process.Identity]chan struct{}
	yields   map[int]process.How                        // the first step that ends it; a hang-up unless it is here
	liveness func(process.Identity) process.Liveness    // overrules
	failing  error                                      // of Snapshot
	hidden   map[int]error                              // of Inspect
	stopped  error                                      // of Moment
	onAct    func(id process.Identity, how process.How) // right before a step
	skew     uint64                                     // additional ticks of the clock
	scans    int                                        // of Snapshot
	acted    []process.Identity                         // processes hung up or signalled
}

func newProcesses(o *order) *processes {
	ps := &processes{order: o, begun: time.Now(), gone: map[process.Identity]chan struct{}{},
		yields: map[int]process.How{}, hidden: map[int]error{}}
	ps.self = ps.start(me, []string{"ccbot", "run"})
	return ps
}

// restartSelf is ccbot ended and started again.
func (ps *processes) restartSelf() {
	pid := ps.Self().PID
	ps.exit(pid)
	self := ps.startNow(pid+1, []string{"ccbot", "run"})
	ps.set(func(ps *processes) { ps.self = self })
}

// start adds a process that has been running since long ago.
func (ps *processes) start(pid int, argv []string, change ...func(*process.Process)) process.Identity {
	return ps.startAt(uint64(longAgo+pid%1_000_000), pid, argv, change...)
}

// startNow starts a process after everything that has happened so far.
func (ps *processes) startNow(pid int, argv []string, change ...func(*process.Process)) process.Identity {
	now, _ := ps.Moment()
	id := ps.startAt(now.Tick, pid, argv, change...)
	ps.set(func(ps *processes) { ps.skew++ }) // each reading is later than the previous one
	return id
}

func (ps *processes) startAt(tick uint64, pid int, argv []string, change ...func(*process.Process)) process.Identity {
	p := process.Process{Identity: process.Identity{PID: pid, Start: tick, Boot: boot}, PPID: 1, UID: user, SID: pid, PGID: pid,
		State: 'S', Foreground: -1, Comm: filepath.Base(argv[0]), Args: argv}
	for _, c := range change {
		c(&p)
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if slices.ContainsFunc(ps.all, func(q process.Process) bool { return q.PID == pid }) {
		panic("the pid is taken")
	}
	ps.all = append(ps.all, p)
	ps.gone[p.Identity] = make(chan struct{})
	return p.Identity
}

// below makes a process another one's child.
func below(parent int) func(*process.Process) {
	return func(p *process.Process) { p.PPID = parent }
}

// exit ends a process by itself. Its children go to pid 1.
func (ps *processes) exit(pid int) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.exitLocked(pid)
}

func (ps *processes) exitLocked(pid int) {
	ps.all = slices.DeleteFunc(ps.all, func(p process.Process) bool {
		if p.PID == pid {
			close(ps.gone[p.Identity])
		}
		return p.PID == pid
	})
	for i := range ps.all {
		if ps.all[i].PPID == pid {
			ps.all[i].PPID = 1
		}
	}
}

// change changes what the table shows of a process.
func (ps *processes) change(pid int, change func(*process.Process)) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for i := range ps.all {
		if ps.all[i].PID == pid {
			change(&ps.all[i])
		}
	}
}

func (ps *processes) set(change func(ps *processes)) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	change(ps)
}

// yieldsTo sets the step that ends a process.
func (ps *processes) yieldsTo(pid int, how process.How) {
	ps.set(func(ps *processes) { ps.yields[pid] = how })
}

func (ps *processes) alive(id process.Identity) bool {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return slices.ContainsFunc(ps.all, func(p process.Process) bool { return p.Identity == id })
}

// signalled are the processes that were hung up or signalled, each once.
func (ps *processes) signalled() []process.Identity {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return slices.Clone(ps.acted)
}

// scanned returns the number of scans of all processes.
func (ps *processes) scanned() int {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.scans
}

func (ps *processes) Self() process.Identity {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.self
}

func (ps *processes) Moment() (process.Moment, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.stopped != nil {
		return process.Moment{}, ps.stopped
	}
	return process.Moment{Boot: boot, Tick: clockStart + ps.skew + uint64(time.Since(ps.begun)/oneTick)}, nil
}

func (ps *processes) Inspect(pid int) (process.Process, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if err := ps.hidden[pid]; err != nil {
		return process.Process{}, err
	}
	if p, ok := (process.Snapshot{Processes: ps.all}).Find(pid); ok && !p.Gone() {
		p.Cwd = "/src"
		return p, nil
	}
	return process.Process{}, process.ErrGone
}

func (ps *processes) Snapshot(context.Context) (process.Snapshot, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.scans++
	if ps.failing != nil {
		return process.Snapshot{}, ps.failing
	}
	all := slices.Clone(ps.all)
	slices.SortFunc(all, func(a, b process.Process) int { return a.PID - b.PID })
	return process.Snapshot{Processes: all}, nil
}

func (ps *processes) Liveness(id process.Identity) process.Liveness {
	ps.mu.Lock()
	liveness := ps.liveness
	ps.mu.Unlock()
	if liveness != nil {
		return liveness(id)
	}
	if !id.Valid() {
		return process.Unknown
	}
	p, err := ps.Inspect(id.PID)
	switch {
	case id.Boot != boot, errors.Is(err, process.ErrGone):
		return process.Gone
	case err != nil:
		return process.Unknown
	case p.Identity != id:
		return process.Gone
	}
	return process.Alive
}

func (ps *processes) Wait(ctx context.Context, id process.Identity) error {
	ps.mu.Lock()
	gone, ok := ps.gone[id]
	ps.mu.Unlock()
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

func (ps *processes) End(ctx context.Context, id process.Identity, prove func(process.Process) error,
	hangUp func(context.Context) error, g process.Grace) (process.Outcome, error) {
	out := process.Outcome{Process: process.Process{Identity: id}}
	if !id.Valid() {
		out.Spared, out.Reason = "its identity is incomplete", process.GuardIdentity
		return out, nil
	}
	p, err := ps.Inspect(id.PID)
	if errors.Is(err, process.ErrGone) || err == nil && p.Identity != id {
		out.How, out.Ended, out.Verified = process.HowAlreadyGone, true, true
		return out, nil
	}
	if err != nil {
		out.Spared, out.Reason = "it cannot be read", process.ReasonUnreadable
		return out, err
	}
	out.Process = p
	if ps.refused(p, prove, &out) {
		return out, nil
	}
	return ps.escalate(ctx, out, hangUp, g)
}

// refused asks the guards that the real End asks, and then the caller.
func (ps *processes) refused(p process.Process, prove func(process.Process) error, out *process.Outcome) bool {
	if name, spared := ps.guard(p); spared {
		out.Spared, out.Reason = "guard "+name, name
		return true
	}
	err := prove(p)
	if err == nil {
		return false
	}
	out.Spared, out.Reason = "not proven: "+err.Error(), process.ReasonUnproven
	if spare := (*process.Spare)(nil); errors.As(err, &spare) {
		out.Spared, out.Reason = err.Error(), spare.Reason
	}
	return true
}

func (ps *processes) guard(p process.Process) (string, bool) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	guards := process.StandardGuards(ps.self, process.AgentNames{})
	guards = slices.DeleteFunc(guards, func(g process.Guard) bool { return g.Name == process.GuardNoAgent })
	return process.SparedBy(p, process.Snapshot{Processes: ps.all}, guards)
}

func (ps *processes) escalate(ctx context.Context, out process.Outcome, hangUp func(context.Context) error, g process.Grace) (process.Outcome, error) {
	id, begun := out.Process.Identity, time.Now()
	var hangUpErr error
	if hangUp != nil {
		out.How = process.HowHangUp
		ps.noteActed(id, process.HowHangUp)
		if hangUpErr = hangUp(ctx); hangUpErr == nil && ps.goneBy(ctx, id, begun.Add(g.Term)) {
			return verified(out), nil
		}
	}
	for _, how := range []process.How{process.HowTerm, process.HowKill} {
		if err := ctx.Err(); err != nil {
			return out, errors.Join(err, hangUpErr)
		}
		deadline := begun.Add(g.Kill)
		if how == process.HowKill {
			deadline = time.Now().Add(5 * time.Second)
			if g.BeforeKill != nil {
				if err := g.BeforeKill(ctx); err != nil {
					return out, errors.Join(err, hangUpErr)
				}
			}
		}
		p, err := ps.Inspect(id.PID)
		if errors.Is(err, process.ErrGone) {
			return verified(out), nil
		}
		if name, spared := ps.guard(p); spared {
			out.Spared, out.Reason = "guard "+name, name
			return out, hangUpErr
		}
		out.How = how
		ps.noteActed(id, how)
		ps.step(id, how)
		if ps.goneBy(ctx, id, deadline) {
			return verified(out), nil
		}
	}
	return out, errors.Join(process.ErrSurvived, hangUpErr)
}

func verified(out process.Outcome) process.Outcome {
	out.Ended, out.Verified = true, true
	return out
}

func (ps *processes) noteActed(id process.Identity, how process.How) {
	ps.mu.Lock()
	onAct := ps.onAct
	if !slices.Contains(ps.acted, id) {
		ps.acted = append(ps.acted, id)
	}
	ps.mu.Unlock()
	ps.order.add("%s %d", how, id.PID)
	if onAct != nil {
		onAct(id, how)
	}
}

// step is a hang-up or a signal that reaches exactly this process.
func (ps *processes) step(id process.Identity, how process.How) {
	steps := []process.How{process.HowHangUp, process.HowTerm, process.HowKill, never}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	there := slices.ContainsFunc(ps.all, func(p process.Process) bool { return p.Identity == id })
	needs := max(0, slices.Index(steps, ps.yields[id.PID]))
	if there && slices.Index(steps, how) >= needs {
		ps.exitLocked(id.PID)
	}
}

// goneBy waits for the end of a process.
func (ps *processes) goneBy(ctx context.Context, id process.Identity, deadline time.Time) bool {
	bounded, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	return ps.Wait(bounded, id) == nil
}
