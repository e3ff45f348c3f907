package engine

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/show"
	"ccbot/internal/logkey"
	"ccbot/internal/session"
	"ccbot/internal/wording"
	"ccbot/port/news"
	"ccbot/recovery"
)

// Recover brings records, windows and processes into agreement before anything new is accepted.
func (e *Engine) Recover(ctx context.Context, start Start) (recovery.Report, error) {
	if err := e.ensureTmux(ctx); err != nil {
		return recovery.Report{}, err
	}
	if err := start.Agree(ctx); err != nil {
		return recovery.Report{}, err
	}
	report, err := e.Recovery.Run(ctx)
	if err != nil {
		return recovery.Report{}, err
	}
	e.Counts.Recovered(report)
	return report, start.Settle(ctx)
}

// tmuxTimeout is how long a start waits for tmux before it logs that it waits: tmux answers within
// milliseconds, or hangs.
const tmuxTimeout = 2 * time.Second

// ensureTmux makes sure that the server and the session exist, and logs where to look if tmux
// hangs.
func (e *Engine) ensureTmux(ctx context.Context) error {
	slow := time.AfterFunc(tmuxTimeout, func() {
		e.Log.Warn("tmux_does_not_answer", logkey.Server, e.TmuxCommand(), logkey.Look, e.TmuxCommand()+" ls")
	})
	defer slow.Stop()
	err := e.Tmux.Ensure(ctx)
	if ctx.Err() != nil { // ccbot was stopped; tmux is not to blame
		return err
	}
	return offline.TmuxError(e.Config, err)
}

// tmuxSilence reports that tmux does not answer, or that it answers again.
func (e *Engine) tmuxSilence(ctx context.Context, silent bool) {
	if silent {
		e.Log.Warn("tmux_silent", logkey.Server, e.TmuxCommand(), logkey.Look, e.TmuxCommand()+" ls")
	} else {
		e.Log.Info("tmux_answers", logkey.Server, e.TmuxCommand())
	}
	if err := e.machineNews(ctx, news.TmuxSilence{Ended: !silent}); err != nil {
		e.Log.Error("tmux_silence_not_told", logkey.Error, err)
	}
}

// ReadAgain makes all readers read a file that was left unread.
func (e *Engine) ReadAgain(path string) {
	e.Suspects.Again(path)
	e.Lifecycle.WakeAll()
}

// reportUnread reports to the conversations of their sessions which files of agents are left
// unread, each once.
func (e *Engine) reportUnread(ctx context.Context) {
	for _, path := range e.Suspects.Unreported() {
		e.Log.Error("file_unread", logkey.Path, wording.Path(path))
		var of []session.Conversation
		for _, r := range e.Store.Shared() {
			if slices.Contains(e.Observer.UnreadOf(r), path) {
				of = append(of, r.Conversation)
			}
		}
		if err := e.machineNews(ctx, news.FileUnread{Path: path, To: of}); err != nil {
			e.Log.Error("file_unread_not_told", logkey.Error, err)
			continue
		}
		e.Suspects.MarkReported(path)
	}
}

// RecoverAgain recovers while the engine runs, for `ccbot recover`. Once begun it continues even if
// the caller is gone. Its results before an error are reported as well, because nothing else would
// report them to the chat.
func (e *Engine) RecoverAgain(ctx context.Context) (show.Account, error) {
	e.recovering.Lock()
	defer e.recovering.Unlock()
	if err := ctx.Err(); err != nil {
		return show.Account{}, err
	}
	ctx, done := e.Lasting(ctx)
	defer done()
	report, err := e.Recovery.Run(ctx)
	if err == nil {
		e.Counts.Recovered(report)
	} else {
		e.Counts.Acted(report.Results)
	}
	e.report(ctx, report)
	did := e.AccountOf(report)
	if err == nil {
		did.Purge = e.Purge(ctx)
	}
	return did, err
}

// AccountOf returns a report for a terminal. The name of a session that is forgotten is empty.
func (e *Engine) AccountOf(report recovery.Report) show.Account {
	return show.AccountOf(report, func(id uuid.UUID) string {
		r, _ := e.Store.Get(id)
		return r.Name
	})
}

// Purge removes the records that are due, and reports each.
func (e *Engine) Purge(ctx context.Context) []show.Purge {
	records := e.Store.List()
	return show.PurgesOf(e.Keeper.Purge(ctx), records, time.Now(), e.PurgeAfter, "was forgotten", "; `ccbot recover --restore-purged` brings it back for a week")
}
