package running

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"ccbot/agent/claude/claudesettings"
	"ccbot/bot/chat"
	"ccbot/bot/health"
	"ccbot/bot/inbox"
	"ccbot/cmd/ccbot/engine"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	accepted "ccbot/internal/prompts"
	"ccbot/internal/session"
)

// unreadTimeout is how long a start waits for entries of the inbox that cannot be read now.
const unreadTimeout = time.Minute

// readable sets aside damaged entries of the inbox before anything needs them. An entry that cannot
// be read now is waited for. After unreadTimeout the start continues: it may be one bad block of
// the disk.
func (p *prompts) readable(ctx context.Context) error {
	for began := time.Now(); ; {
		_, err := p.inbox.List()
		if !errors.Is(err, inbox.ErrUnread) || time.Since(began) >= unreadTimeout {
			return unlessUnread(err)
		}
		if err := pause.For(ctx, 5*time.Second); err != nil {
			return err
		}
	}
}

// firstChat is the interval at which reportOldClaude looks for the first private chat.
const firstChat = 2 * time.Second

// reportOldClaude reports a Claude Code that is too old for ccbot: the log at each start, and the
// chat once for a version, when there is a chat.
func reportOldClaude(ctx context.Context, dir string, claude *claudesettings.Binary, c *chat.Chat, log *slog.Logger) error {
	version := claude.Version(ctx)
	if claudesettings.SupportOf(version) != claudesettings.TooOld {
		return nil
	}
	log.Warn("claude_old", logkey.Version, version, logkey.Needed, claudesettings.Oldest, logkey.Fix, "claude update")
	if statefolder.ReportedClaude(dir, version, claudesettings.Oldest) {
		return nil
	}
	for claude.Known() == version { // it may be updated before there is a chat
		reported, err := health.OldClaudeText(ctx, c, version, claudesettings.Oldest)
		if reported {
			err = statefolder.NoteReportedClaude(dir, version, claudesettings.Oldest)
		}
		if err != nil {
			log.Error("old_claude_not_told", logkey.Error, err)
		}
		if reported || err != nil {
			return nil
		}
		if err := pause.For(ctx, firstChat); err != nil {
			return err
		}
	}
	return nil
}

// settle finds out the fate of the prompts that were being delivered. offer asks a person about
// those without a session. Prompts of a record that could not be read wait where no open session
// can get them: a person may bring the record back out of a backup.
func settle(ctx context.Context, e *engine.Engine, offer func(ctx context.Context, keys []string) error) error {
	all, _, err := e.Prompts.Files.List()
	if err != nil {
		return err
	}
	waiting := accepted.Of(all)
	aside := e.Store.Unloaded()
	elsewhere := slices.ContainsFunc(e.Store.Shared(), func(r session.Record) bool { return r.State.Open() })
	for id, keys := range waiting {
		at := slices.IndexFunc(aside, func(a session.Unloaded) bool { return a.ID == id })
		if at >= 0 && !elsewhere {
			continue
		}
		r, ok := e.Store.Get(id)
		yieldToLeft(ctx, e.Loops, r, keys)
		err := session.ErrNotFound
		if ok {
			err = e.Lifecycle.Queues().SettlePrompts(ctx, id, keys)
		}
		if errors.Is(err, session.ErrNotFound) {
			err = offer(ctx, keys)
		}
		if err != nil {
			e.Log.Error("prompts_not_settled", logkey.SessionID, id.String(), logkey.Error, err)
		}
	}
	return nil
}
