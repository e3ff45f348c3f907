package lifecycle

import (
	"context"
	"slices"
	"time"

	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
)

func (k *kit) watch(ctx context.Context, w watch) {
	if err := k.deps.Machine.Processes.Wait(ctx, w.agent); err != nil && ctx.Err() == nil {
		k.Log.Warn("agent_watch_failed", logkey.PID, w.agent.PID, logkey.Error, err.Error())
		_ = pause.For(ctx, watchRetry)
	}
	k.agenda.note(func() { delete(k.agenda.watched, w.agent) })
	if ctx.Err() == nil {
		k.agenda.wake(w.session)
	}
}

// watchRetry is the pause after the kernel refused to watch an agent.
const watchRetry = 30 * time.Second

// noticeRegularly looks for second writers, first for those that came while no ccbot ran, and then
// every noticeEvery.
func (k *kit) noticeRegularly(ctx context.Context) error {
	for {
		k.noticeOnce(ctx)
		if err := pause.For(ctx, noticeEvery); err != nil {
			return err
		}
	}
}

func (k *kit) noticeOnce(ctx context.Context) {
	if err := k.noticeWriters(ctx); err != nil && ctx.Err() == nil {
		k.Log.Warn("writers_not_noticed", logkey.Error, err.Error())
	}
}

// notice looks at all processes if one of these pids has news: its presence file has changed, it is
// in a session's conversation, and it was not reported yet.
func (k *kit) notice(ctx context.Context, pids []int) {
	news := func() bool { return slices.ContainsFunc(pids, func(pid int) bool { return k.isNews(ctx, pid) }) }
	if news() {
		k.noticeOnce(ctx)
	}
	if news() { // the presence file and the hook's note may contradict each other for a moment
		_ = pause.For(ctx, evidence.Contradiction)
		k.noticeOnce(ctx)
	}
	k.agenda.note(func() { k.agenda.strangers.looking = false })
}

func (k *kit) isNews(ctx context.Context, pid int) bool {
	f, err := k.Evidence.Presences.Read(ctx, pid)
	if err != nil {
		return false // the file is gone or torn: the next regular look finds the process
	}
	all := k.Store.Shared()
	notices := noticeable(all)
	return slices.ContainsFunc(all, func(r session.Record) bool {
		is := func(id process.Identity) bool { return id.PID == pid && id.Start == f.ProcStart }
		own := r.Binding != nil && is(r.Binding.Agent)
		return r.ClaudeSessionID == f.SessionID && notices(r) && !own && !slices.ContainsFunc(r.Seconds, is)
	})
}
