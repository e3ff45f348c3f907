package running

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/agent/claude/claudesettings"
	"ccbot/bot/chat"
	"ccbot/bot/health"
	"ccbot/bot/inbox"
	"ccbot/bot/prompt"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/show"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/host"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/session"
	"ccbot/internal/spool"
	"ccbot/internal/wording"
	"ccbot/recovery"
)

// recover brings records, windows and processes into agreement before anything new is accepted.
func (s *system) recover(ctx context.Context) (recovery.Report, error) {
	if err := s.ensureTmux(ctx); err != nil {
		return recovery.Report{}, err
	}
	if err := s.readable(ctx); err != nil {
		return recovery.Report{}, err
	}
	if err := s.prompts.agree(); err != nil {
		return recovery.Report{}, err
	}
	chats := s.bot.Reports.Chat.Book.Store
	noteCursors(ctx, s.store, s.lifecycle, chats, s.log)
	if err := finishTransfers(ctx, s, chats); err != nil {
		return recovery.Report{}, err
	}
	report, err := s.recovery.Run(ctx)
	if err != nil {
		return recovery.Report{}, err
	}
	s.metrics.Recovered(report)
	if err := s.bot.Prompts.Review(ctx, s.away); err != nil {
		// Otherwise prompts that are too old, or belong to no session, would be typed.
		return recovery.Report{}, err
	}
	return report, s.settle(ctx)
}

// unreadTimeout is how long a start waits for entries of the inbox that cannot be read now.
const unreadTimeout = time.Minute

// readable sets aside damaged entries of the inbox before anything needs them. An entry that cannot
// be read now is waited for. After unreadTimeout the start continues: it may be one bad block of
// the disk.
func (s *system) readable(ctx context.Context) error {
	for began := time.Now(); ; {
		_, err := s.prompts.Waiting()
		if !errors.Is(err, inbox.ErrUnread) || time.Since(began) >= unreadTimeout {
			return unlessUnread(err)
		}
		if err := pause.For(ctx, 5*time.Second); err != nil {
			return err
		}
	}
}

// tmuxTimeout is how long a start waits for tmux before it logs that it waits: tmux answers within
// milliseconds, or hangs.
const tmuxTimeout = 2 * time.Second

// ensureTmux makes sure that the server and the session exist, and logs where to look if tmux
// hangs.
func (s *system) ensureTmux(ctx context.Context) error {
	slow := time.AfterFunc(tmuxTimeout, func() {
		s.log.Warn("tmux_does_not_answer", logkey.Server, s.TmuxCommand(), logkey.Look, s.TmuxCommand()+" ls")
	})
	defer slow.Stop()
	err := s.tmux.Ensure(ctx)
	if ctx.Err() != nil { // ccbot was stopped; tmux is not to blame
		return err
	}
	return offline.TmuxError(s.Config, err)
}

// tmuxSilence reports that tmux does not answer, or that it answers again.
func (s *system) tmuxSilence(ctx context.Context, silent bool) {
	if silent {
		s.log.Warn("tmux_silent", logkey.Server, s.TmuxCommand(), logkey.Look, s.TmuxCommand()+" ls")
	} else {
		s.log.Info("tmux_answers", logkey.Server, s.TmuxCommand())
	}
	if err := health.TmuxText(ctx, s.bot.Chat, silent); err != nil {
		s.log.Error("tmux_silence_not_told", logkey.Error, err)
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

// readAgain makes all readers read a file that was left unread.
func (s *system) readAgain(path string) {
	s.suspects.Again(path)
	s.lifecycle.WakeAll()
}

// reportUnread reports to the conversations of their sessions which files of agents are left
// unread, each once.
func (s *system) reportUnread(ctx context.Context) {
	for _, path := range s.suspects.Unreported() {
		s.log.Error("file_unread", logkey.Path, wording.Path(path))
		var of []session.Conversation
		for _, r := range s.store.Shared() {
			if slices.Contains(s.observer.UnreadOf(r), path) {
				of = append(of, r.Conversation)
			}
		}
		if err := s.bot.Computer.FileUnread(ctx, path, of); err != nil {
			s.log.Error("file_unread_not_told", logkey.Error, err)
			continue
		}
		s.suspects.MarkReported(path)
	}
}

// settle finds out the fate of the prompts that were being delivered. It reads only now to which
// session each belongs, because finishTransfers may have changed that.
// Prompts of a record that could not be read wait where no open session can get them: a newer ccbot
// may read the record, or a person may bring it back out of a backup.
func (s *system) settle(ctx context.Context) error {
	waiting, err := s.prompts.Waiting()
	if err := unlessUnread(err); err != nil {
		return err
	}
	aside := s.store.Unloaded()
	elsewhere := slices.ContainsFunc(s.store.Shared(), func(r session.Record) bool { return r.State.Open() })
	for id, keys := range waiting {
		at := slices.IndexFunc(aside, func(a session.Unloaded) bool { return a.ID == id })
		if at >= 0 && (aside[at].Newer || !elsewhere) {
			continue
		}
		r, ok := s.store.Get(id)
		yieldToLeft(ctx, s.loops, r, keys)
		err := session.ErrNotFound
		if ok && !r.HandedOver() {
			err = s.lifecycle.Queues().SettlePrompts(ctx, id, keys)
		}
		if errors.Is(err, session.ErrNotFound) {
			err = prompt.Offer(ctx, s.bot.Prompts, keys)
		}
		if err != nil {
			s.log.Error("prompts_not_settled", logkey.SessionID, id.String(), logkey.Error, err)
		}
	}
	return nil
}

// reportRecovery reports to the chat what recovery did. The report is on disk when it returns,
// also while Telegram cannot be reached. A failed report stays noted in the records, and the next
// start repeats it.
func (s *system) reportRecovery(ctx context.Context, report recovery.Report) {
	if err := s.recovered(ctx, report); err != nil {
		s.log.Error("recovery_not_told", logkey.Error, err)
	}
}

// recovered reports to the chat what a recovery did, and which files were set aside, by any part of
// ccbot, without being reported yet. The report counts as made when nothing has failed.
func (s *system) recovered(ctx context.Context, report recovery.Report) error {
	start := host.StartOf(report)
	quarantine := filepath.Join(s.Dir, "quarantine")
	unread := s.outbox.Load() // sets aside posts that cannot be read
	aside, err := spool.Unreported(quarantine)
	for _, name := range aside { // files of sessions/, inbox/ and outbox/
		if strings.HasPrefix(name, "sessions-") {
			start.Unreadable++
		} else {
			start.Messages++
		}
	}
	err = errors.Join(unread, err, s.bot.Reports.Report(ctx, start))
	if err != nil || len(s.bot.Reports.Chat.Book.PrivateChats()) == 0 {
		return err
	}
	return spool.MarkReported(quarantine, aside...)
}

// recoverAgain recovers while the bot runs, for `ccbot recover`. Once begun it continues even if
// the caller is gone. Its results before an error are reported as well, because nothing else would
// report them to the chat.
func (s *system) recoverAgain(ctx context.Context) (show.Account, error) {
	s.recovering.Lock()
	defer s.recovering.Unlock()
	if err := ctx.Err(); err != nil {
		return show.Account{}, err
	}
	ctx, done := s.lasting(ctx)
	defer done()
	report, err := s.recovery.Run(ctx)
	if err == nil {
		s.metrics.Recovered(report)
	} else {
		s.metrics.Acted(report.Results)
	}
	s.reportRecovery(ctx, report)
	did := show.AccountOf(report, s.nameOf)
	if err == nil {
		did.Purge = s.purge(ctx)
	}
	return did, err
}

// lastingIn returns a function that makes contexts which end with the run, even if the parent
// context has ended before.
func lastingIn(run context.Context) func(context.Context) (context.Context, context.CancelFunc) {
	return func(ctx context.Context) (context.Context, context.CancelFunc) {
		lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
		stop := context.AfterFunc(run, cancel)
		return lasting, func() { stop(); cancel() }
	}
}

// nameOf is empty for a session that is forgotten.
func (s *system) nameOf(id uuid.UUID) string {
	r, _ := s.store.Get(id)
	return r.Name
}
