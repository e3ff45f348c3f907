package recovery

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"ccbot/internal/logkey"
)

// run is the state of a Run that is under way. Conversations that come back at the same time change
// records too: they need the same backup, and are in the same report.
type run struct {
	mu     sync.Mutex
	report Report
	over   bool
}

// Run recovers. It must be done before any update is handled or any window is made. An action that
// fails is in the report and leaves its record as it is; the other actions are still carried out.
// An error means that not everything was done; the report says what was. Without a backup nothing
// is changed.
func (v *Recovery) Run(ctx context.Context) (Report, error) {
	v.one.Lock()
	defer v.one.Unlock()
	u := &run{report: Report{At: v.Now(), Booted: v.Booted}}
	v.setUnderWay(u)
	defer func() {
		u.done()
		v.setUnderWay(nil)
	}()
	if _, _, err := v.pass(ctx, u, binds); err != nil {
		return u.done(), err
	}
	started := v.Now()
	if err := v.Events(ctx); err != nil {
		v.Log.Error("events_not_taken_in", logkey.Error, err.Error()) // the events stay, and are delivered again
	}
	v.took(u, &u.report.Stages.Events, started)
	// The events may have changed the plan.
	world, notices, err := v.pass(ctx, u, func(d Do) bool { return !binds(d) })
	if err != nil {
		return u.done(), err
	}
	written := writtenIn(ctx, v, notices)
	for _, n := range notices {
		v.tell(n, written)
	}
	report := u.done()
	report.Notices = notices
	v.finish(&report, world)
	return report, ctx.Err()
}

// binds says whether an action connects a record with a process. Such actions come before the
// events are processed, because an event counts only from a bound agent.
func binds(d Do) bool { return d == Reattach || d == Bind }

// pass looks, plans, and applies those actions that are due.
func (v *Recovery) pass(ctx context.Context, u *run, due func(Do) bool) (World, []Notice, error) {
	started := v.Now()
	w := v.Look(ctx)
	actions, notices := Plan(w)
	v.took(u, &u.report.Stages.Look, started)
	if slices.ContainsFunc(actions, func(a Action) bool { return a.Do.Changes() }) {
		if err := v.backUp(ctx); err != nil {
			return w, notices, fmt.Errorf("recovery changed nothing, %w", err)
		}
	}
	started = v.Now()
	u.add(v.applyAll(ctx, w, slices.DeleteFunc(actions, func(a Action) bool { return !due(a.Do) })))
	v.took(u, &u.report.Stages.Apply, started)
	return w, notices, nil
}

func (v *Recovery) setUnderWay(u *run) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.running = u
}

// underWay returns the Run that is under way, nil if there is none.
func (v *Recovery) underWay() *run {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.running
}

// done closes the report and returns it. What is done later is reported in another way.
func (u *run) done() Report {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.over = true
	return u.report
}

// add puts results into the report, unless the report is closed.
func (u *run) add(results []Result) (added bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.over {
		return false
	}
	u.report.Results = append(u.report.Results, results...)
	return true
}

// took adds the time since a moment to a stage of the report.
func (v *Recovery) took(u *run, stage *time.Duration, started time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	*stage += v.Now().Sub(started)
}

// backUp copies the records before the first change that is made by a Run or during it. After that
// first time, and without a Run, it does nothing.
func (v *Recovery) backUp(ctx context.Context) error {
	u := v.underWay()
	if u == nil {
		return nil
	}
	u.mu.Lock() // a change by an arriving conversation may come at the same time
	defer u.mu.Unlock()
	if u.over || u.report.Backup != "" {
		return nil
	}
	started := v.Now()
	name, err := v.Backup(ctx)
	u.report.Backup = name
	u.report.Stages.Backup += v.Now().Sub(started)
	switch {
	case err != nil && name == "":
		return fmt.Errorf("because the records could not be backed up; nothing is lost: %w", err)
	case err != nil: // an older backup could not be removed
		v.Log.Warn("backups_not_pruned", logkey.Error, err.Error())
	}
	return nil
}
