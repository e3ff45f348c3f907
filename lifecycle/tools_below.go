package lifecycle

import (
	"context"
	"slices"

	"ccbot/internal/logkey"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

// noting is the pace of an end before whose KILL it is put on disk what runs
// below the process: a tool's shell sits in a session of its own, and once its
// agent is gone nothing tells whose it was. seen is the table from before the
// end, which shows what has lost its parent since.
func (w *work) noting(id process.Identity, seen process.Snapshot) process.Grace {
	grace := w.grace()
	grace.BeforeKill = func(ctx context.Context) error {
		below := w.below(seen, id)
		if now, err := w.Processes.Snapshot(ctx); err == nil {
			below = append(below, w.below(now, id)...)
		}
		return w.noteBelow(id, below)
	}
	return grace
}

// noteBelow is called for several processes at once.
func (w *work) noteBelow(of process.Identity, below []process.Identity) error {
	w.noted.Lock()
	defer w.noted.Unlock()
	for _, id := range below {
		if tool := (session.Tool{Process: id, Of: of}); !slices.Contains(w.r.Below, tool) {
			w.r.Below = append(w.r.Below, tool)
		}
	}
	err := w.save()
	w.at("below-recorded")
	if len(w.r.Below) > 0 {
		w.agenda.wake(w.r.ID) // whatever becomes of this end, a step looks after them
	}
	return err
}

// spareCleaned forgets what this end has noted below a process that did not need
// the KILL: it has cleaned up itself. before is what was noted earlier.
func (w *work) spareCleaned(out process.Outcome, before []session.Tool) {
	if !out.Ended || out.How == process.HowKill {
		return
	}
	w.r.Below = slices.DeleteFunc(w.r.Below, func(t session.Tool) bool {
		return t.Of == out.Process.Identity && !slices.Contains(before, t)
	})
}

// below are the descendants of a process. What runs below one that a guard
// protects, such as a tmux server or another session's agent, is not its own; nor
// is a second writer of the conversation, or the session's agent, with all that
// runs below them.
func (w *work) below(table process.Snapshot, id process.Identity) (found []process.Identity) {
	if p, ok := table.Find(id.PID); !ok || p.Identity != id {
		return nil
	}
	apart, all := w.apart(), w.Evidence.Of(table)
	seen := map[int]bool{id.PID: true} // a table read while pids are reused could show a ring
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

// apart are the session's agent and the second writers that the person was told
// of: they are ended as what they are, and never as a tool.
func (w *work) apart() []process.Identity {
	apart := slices.Clone(w.r.Seconds)
	if w.r.Binding != nil {
		apart = append(apart, w.r.Binding.Agent)
	}
	return apart
}

// endBelow ends what killed processes left behind: they could not clean up
// themselves. A tool is no agent, so that one guard does not count; and it is no
// writer, so that one that a guard spares keeps no archive from being over, and is
// noted no more.
func (w *work) endBelow(ctx context.Context) (ended []Ending, failures []Failure) {
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

// orphaned are the noted tools that live, each once, and of which all are proven
// gone that they were seen below: one of which that is not known may still use
// them. While nobody knows whether the session's agent lives, nobody knows what is
// its own.
func (w *work) orphaned() (orphans []process.Identity) {
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

// livingTools are the noted tools that are not proven gone: nothing else clears
// them, also not the end of the session.
func (w *work) livingTools() (living []session.Tool) {
	for _, t := range w.r.Below {
		if len(w.Evidence.Living([]process.Identity{t.Process})) > 0 {
			living = append(living, t)
		}
	}
	return living
}

// tidy ends, between other things, what runs on though the process is gone that
// it was noted below. There is nobody to tell.
func (w *work) tidy(ctx context.Context) error {
	before, tried := slices.Clone(w.r.Below), len(w.orphaned()) > 0
	_, failures := w.endBelow(ctx)
	for _, f := range failures {
		w.Log.Warn("tool_not_ended", logkey.SessionID, w.r.ID.String(), logkey.Reason, f.String())
	}
	if !tried && slices.Equal(before, w.r.Below) {
		return nil
	}
	return w.save() // also after a vain try: its date paces the next
}
