package bot

import (
	"context"
	"errors"
	"log/slog"
	"os/exec"
	"strings"

	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/tmux"
)

// failure is what a person is told of an error; the log has the chain.
type failure struct {
	text     render.Text
	err      error
	internal bool // nobody but the log can say more
}

func (b *Bot) internal(err error) failure {
	return failure{text: plain(b.words.Say(i18n.InternalError)), err: err, internal: true}
}

// explain tells a failure. The update is handled with that.
func (b *Bot) explain(ctx context.Context, to session.Conversation, f failure) error {
	level := slog.LevelInfo // a refusal that the person understands
	if f.internal {
		level = slog.LevelError
	}
	b.Log.Log(ctx, level, "request_refused", "error", f.err.Error())
	return b.post(ctx, to, f.text, nil)
}

// startFailure explains why a session could not be started.
func (b *Bot) startFailure(err error) failure {
	if text, ok := b.commonFailure(err); ok {
		return failure{text: plain(text), err: err}
	}
	return b.internal(err)
}

// commonFailure explains what may be wrong with the machine.
func (b *Bot) commonFailure(err error) (string, bool) {
	dir := (*lifecycle.DirError)(nil)
	switch {
	case errors.As(err, &dir):
		return b.dirFailure(dir), true
	case errors.Is(err, tmux.ErrNoTmux):
		return b.words.Say(i18n.TmuxMissing), true
	case errors.Is(err, lifecycle.ErrNoClaude):
		command := "claude"
		if missing := (*exec.Error)(nil); errors.As(err, &missing) {
			command = missing.Name
		}
		return b.words.Say(i18n.ClaudeMissing, i18n.Args{"Command": command}), true
	}
	return "", false
}

func (b *Bot) dirFailure(e *lifecycle.DirError) string {
	args := i18n.Args{"Path": b.short(e.Dir), "Reason": string(e.Why)}
	switch e.Why {
	case lifecycle.DirMissing:
		return b.words.Say(i18n.PathMissing, args)
	case lifecycle.DirNotADir:
		return b.words.Say(i18n.PathNotDir, args)
	}
	return b.words.Say(i18n.PathUnreadable, args)
}

// restoreFailure explains why a session could not come back.
func (b *Bot) restoreFailure(r session.Record, err error) failure {
	dir, writer, state := (*lifecycle.DirError)(nil), (*lifecycle.WriterError)(nil), (*lifecycle.StateError)(nil)
	switch {
	case errors.As(err, &dir) && dir.Why != lifecycle.DirNoAccess:
		return failure{text: plain(b.words.Say(i18n.DirGone, i18n.Args{"Name": r.Name, "Dir": b.short(r.Dir)})), err: err}
	case errors.As(err, &writer):
		return failure{text: plain(b.writerText(writer.Verdict)), err: err}
	case errors.As(err, &state) && state.State == session.CleanupFailed:
		return failure{text: plain(b.notCleanText(r)), err: err}
	}
	return b.startFailure(err)
}

// writerText says who writes a conversation, or that nobody knows.
func (b *Bot) writerText(v process.Verdict) string {
	if v.Writer != process.Yes {
		return b.words.Say(i18n.ResumeUnknown, i18n.Args{"Reason": v.Why})
	}
	return b.words.Say(i18n.ResumeRefusedWriter, i18n.Args{"PID": v.Process.PID, "Where": v.Why})
}

// agentFailure explains why something could not be done with an agent.
func (b *Bot) agentFailure(r session.Record, err error) failure {
	state := (*lifecycle.StateError)(nil)
	switch {
	case errors.Is(err, lifecycle.ErrNoAgent), errors.Is(err, tmux.ErrNoPane):
		return failure{text: plain(b.words.Say(i18n.AlreadyEnded, i18n.Args{"Name": r.Name})), err: err}
	case errors.Is(err, tmux.ErrGuard):
		return failure{text: plain(b.words.Say(i18n.StopRefused, i18n.Args{"Name": r.Name, "Command": b.Sessions.Attach(r)})), err: err}
	case errors.As(err, &state):
		return failure{text: plain(b.words.Say(i18n.AlreadyEnded, i18n.Args{"Name": r.Name})), err: err}
	}
	return b.internal(err)
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n "), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
