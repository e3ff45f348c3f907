package lifecycle

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/agent/witness"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/evidence"
)

// noticeEvery is the interval of checks of all processes for second writers without a presence
// file.
const noticeEvery = time.Minute

// noticeWriters checks all processes once. It reports every process that writes the conversation of
// a session without being its agent, and every conversation that continues although its session has
// ended. If the session's agent is gone, such a process may be the same person who continues
// elsewhere: then Came is called first. No process is reported twice, and nothing is ended.
func (c *core) noticeWriters(ctx context.Context) error {
	all := c.Store.Shared()
	known := explained(all)
	notices := noticeable(all)
	var records []*session.Record // a copy of thousands each minute would take more memory than they do
	var conversations []uuid.UUID
	for _, live := range []bool{true, false} { // if two sessions have the same conversation, the report is about the open one
		for i, r := range all {
			if r.State.Live() == live && notices(r) {
				records, conversations = append(records, &all[i]), append(conversations, r.AgentSessionID)
			}
		}
	}
	if len(records) == 0 {
		return nil
	}
	found, err := c.Evidence.Read(ctx, conversations...)
	if err != nil {
		return err
	}
	var failed []error
	for _, one := range records {
		r := *one
		if len(found.Unreported(r)) == 0 && !c.HasGrown(r, known[r.AgentSessionID]) || c.came(ctx, r, found) {
			continue
		}
		err := c.do(ctx, r.ID, func(w *work) error { return w.writers.notice(ctx) })
		if err != nil && !errors.Is(err, session.ErrNotFound) {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// came asks whether a session has moved to one of the processes that came to its conversation. It
// runs on no worker: a session that moves needs its own worker.
func (c *core) came(ctx context.Context, r session.Record, found *evidence.Evidence) bool {
	fresh := slices.DeleteFunc(found.Unreported(r), func(v process.Verdict) bool { return v.Source != process.SourcePresence })
	if c.deps.Callbacks.Came == nil || len(fresh) == 0 || !session.MayMove(r.State, c.OwnAgent(r)) {
		return false
	}
	for _, one := range found.Describe(ctx, r, fresh) {
		if one.Adoptable() && c.deps.Callbacks.Came(ctx, one) {
			return true
		}
	}
	return false
}

// EndWriters ends processes that write the session's conversation without being its agent: a person
// was shown them and has decided. Each process is proven again right before it is ended; a process
// that is no longer what the person saw is spared.
func (s *Service) EndWriters(ctx context.Context, id uuid.UUID, who []process.Identity) (ended []ending.Ending, err error) {
	err = s.core.do(ctx, id, func(w *work) error {
		ended = w.ender.EndWriters(ctx, who)
		w.r.SecondWriters = w.Evidence.Living(w.r.SecondWriters)
		if !w.r.State.Live() {
			w.r.TranscriptKnown, w.r.GrowthReported = w.Observer.TranscriptSize(*w.r), false
		}
		return w.save()
	})
	return ended, err
}

// Writers returns the processes that write the session's conversation at this moment, or may write
// it, apart from its own agent. From then on they count as reported.
func (s *Service) Writers(ctx context.Context, id uuid.UUID) (found []evidence.Writer, err error) {
	if err := s.core.answers(ctx); err != nil { // otherwise each would seem to run outside of tmux
		return nil, err
	}
	err = s.core.do(ctx, id, func(w *work) error {
		found, err = w.writers.others(ctx)
		return err
	})
	return found, err
}

// noticeRegularly looks for second writers, first for those that came while no ccbot ran, and then
// every noticeEvery.
func (c *core) noticeRegularly(ctx context.Context) error {
	for {
		c.noticeOnce(ctx)
		if err := pause.For(ctx, noticeEvery); err != nil {
			return err
		}
	}
}

func (c *core) noticeOnce(ctx context.Context) {
	if err := c.noticeWriters(ctx); err != nil && ctx.Err() == nil {
		c.Log.Warn("writers_not_noticed", logkey.Error, err)
	}
}

// notice looks at all processes if one of these pids has news: its presence file has changed, it is
// in a session's conversation, and it was not reported yet.
func (c *core) notice(ctx context.Context, pids []int) {
	news := func() bool { return slices.ContainsFunc(pids, func(pid int) bool { return c.isNews(ctx, pid) }) }
	if news() {
		c.noticeOnce(ctx)
	}
	if news() { // the presence file and the hook's note may contradict each other for a moment
		_ = pause.For(ctx, evidence.Contradiction)
		c.noticeOnce(ctx)
	}
	c.agenda.note(func() { c.agenda.foreign.running = false })
}

func (c *core) isNews(ctx context.Context, pid int) bool {
	files, _ := c.Evidence.PresencesOf(ctx, pid) // of one that is torn the next regular look finds the process
	all := c.Store.Shared()
	notices := noticeable(all)
	return slices.ContainsFunc(files, func(f witness.Presence) bool {
		return slices.ContainsFunc(all, func(r session.Record) bool {
			is := func(id process.Identity) bool { return id.PID == pid && id.Start == f.ProcStart }
			own := r.Binding != nil && (is(r.Binding.Agent) || is(r.Binding.AgentServer))
			return r.AgentSessionID == f.SessionID && notices(r) && !own && !slices.ContainsFunc(r.SecondWriters, is)
		})
	})
}
