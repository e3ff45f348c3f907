package lifecycle

import (
	"context"
	"slices"

	"ccbot/internal/process"
)

// noting is the pace of an end before whose KILL it is put on disk what runs
// below the process: a tool's shell sits in a session of its own, and once its
// agent is gone nothing tells whose it was. seen is the table from before the
// end, which shows what has lost its parent since.
func (w *work) noting(id process.Identity, seen process.Snapshot) process.Grace {
	return process.Grace{Term: termAfter, Kill: max(w.KillGrace, termAfter), BeforeKill: func(ctx context.Context) error {
		below := w.below(seen, id)
		if now, err := w.Processes.Snapshot(ctx); err == nil {
			below = append(below, w.below(now, id)...)
		}
		return w.noteBelow(below)
	}}
}

// noteBelow is called for several processes at once.
func (w *work) noteBelow(below []process.Identity) error {
	w.noted.Lock()
	defer w.noted.Unlock()
	for _, id := range below {
		if !slices.Contains(w.r.Below, id) {
			w.r.Below = append(w.r.Below, id)
		}
	}
	err := w.save()
	w.at("below-recorded")
	return err
}

// below are the descendants of a process. What runs below one that a guard
// protects, such as a tmux server or another session's agent, is not its own.
func (w *work) below(table process.Snapshot, id process.Identity) (found []process.Identity) {
	if p, ok := table.Find(id.PID); !ok || p.Identity != id {
		return nil
	}
	seen := map[int]bool{id.PID: true} // a table read while pids are reused could show a ring
	for queue := []int{id.PID}; len(queue) > 0; queue = queue[1:] {
		for _, child := range table.Children(queue[0]) {
			if seen[child.PID] {
				continue
			}
			seen[child.PID] = true
			found = append(found, child.Identity)
			if w.sparedBy(table, child, process.GuardNoAgent) == nil {
				queue = append(queue, child.PID)
			}
		}
	}
	return found
}

// endBelow ends what killed agents left behind: they could not clean up
// themselves. A tool is no agent, so that one guard does not count; and it is no
// writer, so that one that a guard spares keeps no archive from being over.
func (w *work) endBelow(ctx context.Context) (ended []Ending, failures []Failure) {
	if len(w.r.Below) == 0 {
		return nil, nil
	}
	table, err := w.Processes.Snapshot(ctx)
	if err != nil {
		return nil, []Failure{{FailureProcesses, 0, err.Error()}}
	}
	prove := func(p process.Process) error { return w.guarded(ctx, p, process.GuardNoAgent) }
	endings, errs := w.endEach(ctx, w.orphaned(table), prove, func(process.Identity) process.Grace { return w.grace() })
	var receipt Receipt
	for i, e := range endings {
		if errs[i] != nil || !e.over() && !e.guarded() {
			receipt.failOutcome(e.Outcome, errs[i])
		}
		if e.How != process.HowAlreadyGone {
			ended = append(ended, e)
		}
	}
	w.r.Below = w.living(w.r.Below)
	return ended, receipt.Failures
}

// orphaned are those that were noted and do not run below the session's agent:
// it may have survived.
func (w *work) orphaned(table process.Snapshot) []process.Identity {
	if w.r.Binding == nil {
		return w.r.Below
	}
	switch w.Processes.Liveness(w.r.Binding.Agent) {
	case process.Unknown:
		return nil
	case process.Alive:
		kept := w.below(table, w.r.Binding.Agent)
		return slices.DeleteFunc(slices.Clone(w.r.Below), func(id process.Identity) bool { return slices.Contains(kept, id) })
	}
	return w.r.Below
}
