package lifecycle

import (
	"context"
	"maps"
	"slices"
	"time"

	"ccbot/internal/pause"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
)

// Watch makes the end of the session's bound agent wake the session. Watching
// it again is nothing.
func (s *Service) Watch(r session.Record) {
	if r.Binding == nil || !r.Binding.Agent.Valid() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watched[r.Binding.Agent] || s.Processes.Liveness(r.Binding.Agent) != process.Alive {
		return
	}
	m := s.memory[r.ID]
	m.seen = r.Binding.Agent
	s.memory[r.ID] = m
	s.watched[r.Binding.Agent] = true
	s.waits = append(s.waits, watch{session: r.ID, agent: r.Binding.Agent})
	s.signal()
}

func (s *Service) takeWatches() []watch {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.waits
	s.waits = nil
	return w
}

func (s *Service) watch(ctx context.Context, w watch) {
	if err := s.Processes.Wait(ctx, w.agent); err != nil && ctx.Err() == nil {
		s.Log.Warn("agent_watch_failed", "pid", w.agent.PID, "error", err.Error())
		_ = pause.For(ctx, watchRetry)
	}
	s.mu.Lock()
	delete(s.watched, w.agent)
	s.mu.Unlock()
	if ctx.Err() == nil {
		s.Wake(w.session)
	}
}

// watchRetry is between two tries to watch an agent where the kernel refuses.
const watchRetry = 30 * time.Second

// wakeUnfinished arranges the next step of every session that is over and has
// something left to end: a cleanup that failed, or tools of what was killed.
func (s *Service) wakeUnfinished() {
	for _, r := range s.Store.Shared() {
		if !r.State.Live() && stepped(r) {
			s.Wake(r.ID)
		}
	}
}

// noticeRegularly looks for second writers at once, for those that came while
// ccbot was away, and then every noticeEvery.
func (s *Service) noticeRegularly(ctx context.Context) error {
	tick := time.NewTicker(noticeEvery)
	defer tick.Stop()
	for {
		s.noticeOnce(ctx)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (s *Service) noticeOnce(ctx context.Context) {
	if err := s.NoticeWriters(ctx); err != nil && ctx.Err() == nil {
		s.Log.Warn("writers_not_noticed", "error", err.Error())
	}
}

// takeStrangers gives the pids to look at, unless a look is under way: they are
// taken when it is over.
func (s *Service) takeStrangers() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.noticing || len(s.strangers) == 0 {
		return nil
	}
	pids := slices.Collect(maps.Keys(s.strangers))
	clear(s.strangers)
	s.noticing = true
	return pids
}

// notice looks at all processes if one of these, whose presence file has
// changed, is in a conversation of ours and was not told yet.
func (s *Service) notice(ctx context.Context, pids []int) {
	news := func() bool { return slices.ContainsFunc(pids, func(pid int) bool { return s.isNews(ctx, pid) }) }
	if news() {
		s.noticeOnce(ctx)
	}
	if news() { // presence file and hook contradict each other for a moment
		_ = pause.For(ctx, evidence.Contradiction)
		s.noticeOnce(ctx)
	}
	s.mu.Lock()
	s.noticing = false
	s.mu.Unlock()
	s.signal()
}

func (s *Service) isNews(ctx context.Context, pid int) bool {
	f, err := s.Evidence.Presences.Read(ctx, pid)
	if err != nil {
		return false // gone, or torn: the next look at all of them finds it
	}
	all := s.Store.Shared()
	notices := noticeable(all)
	return slices.ContainsFunc(all, func(r session.Record) bool {
		is := func(id process.Identity) bool { return id.PID == pid && id.Start == f.ProcStart }
		own := r.Binding != nil && is(r.Binding.Agent)
		return r.ClaudeSessionID == f.SessionID && notices(r) && !own && !slices.ContainsFunc(r.Seconds, is)
	})
}
