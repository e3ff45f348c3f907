package lifecycle

import (
	"context"
	"slices"

	"ccbot/internal/logkey"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

// noting returns the pace for ending a process. Before the KILL, it puts on disk which processes
// run below that process. The reason: the shell of a tool has a process session of its own, and
// once its agent is gone, nothing shows to which agent it belonged. seen is the process table from
// before the end; it still shows the descendants that have lost their parent since.
func (w *ender) noting(id process.Identity, seen process.Snapshot) process.Grace {
	grace := w.grace()
	grace.BeforeKill = func(ctx context.Context) error {
		w.noted.Lock() // several processes may be ended at the same time
		defer w.noted.Unlock()
		below := w.below(seen, id)
		if now, err := w.Processes.Snapshot(ctx); err == nil {
			below = append(below, w.below(now, id)...)
		}
		for _, one := range below {
			if tool := (session.Tool{Process: one, Of: id}); !slices.Contains(w.r.Below, tool) {
				w.r.Below = append(w.r.Below, tool)
			}
		}
		err := w.save()
		w.at("below-recorded")
		if len(w.r.Below) > 0 {
			w.agenda.wake(w.r.ID) // a step ends them, whether this end succeeds or not
		}
		return err
	}
	return grace
}

// spareCleaned removes the notes that this end has made below a process that ended without KILL:
// such a process has cleaned up itself. before is what was noted earlier, and stays.
func (w *ender) spareCleaned(out process.Outcome, before []session.Tool) {
	if !out.Ended || out.How == process.HowKill {
		return
	}
	w.r.Below = slices.DeleteFunc(w.r.Below, func(t session.Tool) bool {
		return t.Of == out.Process.Identity && !slices.Contains(before, t)
	})
}

// below returns the descendants of a process that belong to it. Left out is everything below a
// process that a guard protects, such as a tmux server or another session's agent. Left out are
// also the session's agent and second writers of the conversation, with everything below them.
func (w *ender) below(table process.Snapshot, id process.Identity) (found []process.Identity) {
	if p, ok := table.Find(id.PID); !ok || p.Identity != id {
		return nil
	}
	apart, all := w.apart(), w.Evidence.Of(table)
	seen := map[int]bool{id.PID: true} // a table that was read while pids were reused could contain a ring
	for queue := []int{id.PID}; len(queue) > 0; queue = queue[1:] {
		for _, child := range table.Children(queue[0]) {
			if seen[child.PID] || slices.Contains(apart, child.Identity) {
				continue
			}
			seen[child.PID] = true
			found = append(found, child.Identity)
			if all.SparedBy(w.r.ID, child, process.GuardNoAgent) == nil {
				queue = append(queue, child.PID)
			}
		}
	}
	return found
}

// apart returns the session's agent and the reported second writers: they are ended as what they
// are, and never as a tool.
func (w *ender) apart() []process.Identity {
	apart := slices.Clone(w.r.Seconds)
	if w.r.Binding != nil {
		apart = append(apart, w.r.Binding.Agent)
	}
	return apart
}

// endBelow ends the tools that killed processes left behind, because those processes could not
// clean up themselves. A tool is no agent, so the guard that spares everything but agents does not
// count. A tool is no writer either: if a guard spares it, the archive is over all the same, and
// the tool is no longer noted.
func (w *ender) endBelow(ctx context.Context) (ended []Ending, failures []Failure) {
	orphans := w.orphaned()
	if len(orphans) == 0 {
		w.r.Below = w.livingTools()
		return nil, nil
	}
	table, err := w.Processes.Snapshot(ctx)
	if err != nil {
		return nil, []Failure{{Kind: FailureProcesses, Detail: err.Error()}}
	}
	spared := w.apart()
	for _, id := range w.apart() {
		spared = append(spared, w.below(table, id)...)
	}
	orphans = slices.DeleteFunc(orphans, func(id process.Identity) bool { return slices.Contains(spared, id) })
	prove := func(p process.Process) error { return w.guarded(ctx, p, process.GuardNoAgent) }
	endings, errs := w.endEach(ctx, orphans, prove, func(process.Identity) process.Grace { return w.grace() })
	var receipt Receipt
	for i, e := range endings {
		switch {
		case errs[i] == nil && e.guarded():
			spared = append(spared, e.Process.Identity)
		case errs[i] != nil || !e.over():
			receipt.failOutcome(e.Outcome, errs[i])
		}
		if e.How != process.HowAlreadyGone {
			ended = append(ended, e)
		}
	}
	w.r.Below = slices.DeleteFunc(w.livingTools(), func(t session.Tool) bool {
		return slices.Contains(spared, t.Process) && w.Processes.Liveness(t.Of) == process.Gone
	})
	return ended, receipt.Failures
}

// orphaned returns the living noted tools, each once, for which every process that they were seen
// below is proven gone. A process that may still live may still use its tools. While it is unknown
// whether the session's agent lives, no tool counts as orphaned, because the agent may use any of
// them.
func (w *ender) orphaned() (orphans []process.Identity) {
	if w.r.Binding != nil && w.Processes.Liveness(w.r.Binding.Agent) == process.Unknown {
		return nil
	}
	tools := w.livingTools()
	var used []process.Identity
	for _, t := range tools {
		if w.Processes.Liveness(t.Of) != process.Gone {
			used = append(used, t.Process)
		}
	}
	for _, t := range tools {
		if !slices.Contains(used, t.Process) && !slices.Contains(orphans, t.Process) {
			orphans = append(orphans, t.Process)
		}
	}
	return orphans
}

// livingTools returns the noted tools that are not proven gone. No other code removes such notes,
// not even at the end of the session.
func (w *ender) livingTools() (living []session.Tool) {
	for _, t := range w.r.Below {
		if len(w.Evidence.Living([]process.Identity{t.Process})) > 0 {
			living = append(living, t)
		}
	}
	return living
}

// tidy ends the noted tools that still run although the process above them is gone, at a moment
// without other work. The result is only logged.
func (w *ender) tidy(ctx context.Context) error {
	before := slices.Clone(w.r.Below)
	_, failures := w.endBelow(ctx)
	for _, f := range failures {
		w.Log.Warn("tool_not_ended", logkey.SessionID, w.r.ID.String(), logkey.Reason, f.String())
	}
	w.remember(func(m *memory) { m.tidied = w.Now() })
	if slices.Equal(before, w.r.Below) {
		return nil
	}
	w.r.Upkeep()
	return w.save()
}
