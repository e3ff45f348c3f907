package ending

import (
	"context"
	"slices"

	"ccbot/internal/logkey"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

// noting returns the pace for ending a process. Before the KILL it puts the descendants of that
// process on disk, because the shell of a tool has a separate process session, and once its agent
// is gone, nothing links it to the agent. seen is the process table before the end, with
// descendants that have lost their parent since.
func (s *Session) noting(id process.Identity, seen process.Snapshot) process.Grace {
	grace := s.grace()
	grace.BeforeKill = func(ctx context.Context) error {
		now, _ := s.ender.Processes.Snapshot(ctx) // of one that cannot be read, seen has what is known
		return s.noteTools(id, seen, now)
	}
	return grace
}

// noteTools puts the descendants of a process on disk.
func (s *Session) noteTools(id process.Identity, tables ...process.Snapshot) error {
	s.noted.Lock() // several processes may be ended at the same time
	defer s.noted.Unlock()
	for _, table := range tables {
		for _, one := range s.descendants(table, id) {
			if tool := (session.Tool{Process: one, Of: id}); !slices.Contains(s.r.Descendants, tool) {
				s.r.Descendants = append(s.r.Descendants, tool)
			}
		}
	}
	err := s.save()
	s.onTools()
	return err
}

// noteServed notes the tools of the agent's server before anything ends: the process at the
// terminal may kill the server, and a server that ends does not wait for its tools. They end with
// the session.
func (s *Session) noteServed(ctx context.Context) {
	b := s.r.Binding
	if b == nil || !b.AgentServer.Valid() {
		return
	}
	seen, err := s.ender.Processes.Snapshot(ctx)
	if err != nil {
		return // the search for leftovers meets the same error and handles it
	}
	if err := s.noteTools(b.AgentServer, seen); err != nil {
		s.ender.Log.Warn("record_not_saved", logkey.SessionID, s.r.ID.String(), logkey.Error, err)
	}
}

// spareCleaned removes the notes that this end has made below a process that ended without KILL:
// such a process has cleaned up itself. before is what was noted earlier, and stays.
func (s *Session) spareCleaned(out process.Outcome, before []session.Tool) {
	if !out.Ended || out.How == process.HowKill {
		return
	}
	s.r.Descendants = slices.DeleteFunc(s.r.Descendants, func(t session.Tool) bool {
		return t.Of == out.Process.Identity && !slices.Contains(before, t)
	})
}

// descendants returns the descendants of a process that belong to it. Left out is everything below
// a process that a guard protects, such as a tmux server or another session's agent. Left out are
// also the session's agent and second writers of the conversation, with everything below them.
func (s *Session) descendants(table process.Snapshot, id process.Identity) (found []process.Identity) {
	if p, ok := table.Find(id.PID); !ok || p.Identity != id {
		return nil
	}
	apart, all := s.apart(), s.ender.Evidence.Of(table)
	seen := map[int]bool{id.PID: true} // a table that was read while pids were reused could contain a ring
	for queue := []int{id.PID}; len(queue) > 0; queue = queue[1:] {
		for _, child := range table.Children(queue[0]) {
			if seen[child.PID] || slices.Contains(apart, child.Identity) {
				continue
			}
			seen[child.PID] = true
			found = append(found, child.Identity)
			if all.SparedBy(s.r.ID, child, process.GuardNoAgent) == nil {
				queue = append(queue, child.PID)
			}
		}
	}
	return found
}

// EndTools ends the tools of killed processes, which could not clean up themselves. A tool is not
// an agent, so the guard that spares everything but agents does not count. A tool is not a writer
// either: if a guard spares it, the archive has still ended, and the tool is no longer noted.
func (s *Session) EndTools(ctx context.Context) (ended []Ending, failures []Failure) {
	orphans := s.orphaned()
	if len(orphans) == 0 {
		s.r.Descendants = s.LivingTools()
		return nil, nil
	}
	table, err := s.ender.Processes.Snapshot(ctx)
	if err != nil {
		return nil, []Failure{{Kind: FailureProcesses, Detail: err.Error()}}
	}
	spared := s.apart()
	for _, id := range s.apart() {
		spared = append(spared, s.descendants(table, id)...)
	}
	orphans = slices.DeleteFunc(orphans, func(id process.Identity) bool { return slices.Contains(spared, id) })
	prove := func(p process.Process) error { return s.guarded(ctx, p, process.GuardNoAgent) }
	endings, errs := s.endEach(ctx, orphans, prove, func(process.Identity) process.Grace { return s.grace() })
	var receipt Receipt
	for i, e := range endings {
		switch {
		case errs[i] == nil && e.guarded():
			spared = append(spared, e.Process.Identity)
		case errs[i] != nil || !e.isGone():
			receipt.failOutcome(e.Outcome, errs[i])
		}
		if e.How != process.HowAlreadyGone {
			ended = append(ended, e)
		}
	}
	s.r.Descendants = slices.DeleteFunc(s.LivingTools(), func(t session.Tool) bool {
		return slices.Contains(spared, t.Process) && s.ender.Processes.Liveness(t.Of) == process.Gone
	})
	return ended, receipt.Failures
}

// orphaned returns the living noted tools, each once, for which every process that they were seen
// below is proven gone. A process that may still live may still use its tools. While it is unknown
// whether the session's agent lives, no tool counts as orphaned, because the agent may use any of
// them.
func (s *Session) orphaned() (orphans []process.Identity) {
	if b := s.r.Binding; b != nil {
		for _, id := range []process.Identity{b.Agent, b.Writer()} {
			if s.ender.Processes.Liveness(id) == process.Unknown {
				return nil
			}
		}
	}
	tools := s.LivingTools()
	var used []process.Identity
	for _, t := range tools {
		if s.ender.Processes.Liveness(t.Of) != process.Gone {
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

// LivingTools returns the noted tools that are not proven gone. No other code removes such notes,
// not even at the end of the session.
func (s *Session) LivingTools() (living []session.Tool) {
	for _, t := range s.r.Descendants {
		if len(s.ender.Evidence.Living([]process.Identity{t.Process})) > 0 {
			living = append(living, t)
		}
	}
	return living
}

// Tidy ends the noted tools that still run although the process above them is gone, at a moment
// without other work. The result is only logged.
func (s *Session) Tidy(ctx context.Context) error {
	before := slices.Clone(s.r.Descendants)
	_, failures := s.EndTools(ctx)
	for _, f := range failures {
		s.ender.Log.Warn("tool_not_ended", logkey.SessionID, s.r.ID.String(), logkey.Reason, f.String())
	}
	if slices.Equal(before, s.r.Descendants) {
		return nil
	}
	s.r.Upkeep()
	return s.save()
}
