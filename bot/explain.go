package bot

import (
	"context"
	"errors"
	"log/slog"
	"os/exec"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/tmux"
)

// failure is what a person is told of an error; the log has the chain.
type failure struct {
	text     render.Text
	buttons  [][]outbox.Button // what can be done
	err      error
	internal bool      // nobody but the log can say more
	session  uuid.UUID // whose failure it is
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
	return b.of(f.session).post(ctx, to, f.text, f.buttons)
}

// startFailure explains why a session could not be started.
func (b *Bot) startFailure(err error) failure {
	if text, ok := b.commonFailure(err); ok {
		return failure{text: plain(text), err: err}
	}
	if writer := (*lifecycle.WriterError)(nil); errors.As(err, &writer) {
		return failure{text: b.unsureText(writer.Writers), err: err}
	}
	if errors.Is(err, lifecycle.ErrEvidence) {
		return failure{text: plain(b.words.Say(i18n.EvidenceStart)), err: err, internal: true}
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

// restoreFailure explains why a session could not come back, and offers what can
// be done.
func (b *Bot) restoreFailure(c comeback, err error) failure {
	f := b.restoreRefusal(c, err)
	f.err, f.session = err, c.r.ID
	if len(c.before) > 0 {
		f.text = render.Join(plain(c.above("")), f.text)
	}
	return f
}

func (b *Bot) restoreRefusal(c comeback, err error) failure {
	dir, writer, state := (*lifecycle.DirError)(nil), (*lifecycle.WriterError)(nil), (*lifecycle.StateError)(nil)
	damaged, name := (*lifecycle.TranscriptError)(nil), i18n.Args{"Name": c.r.Name}
	switch {
	case errors.As(err, &dir):
		return b.dirRefusal(c, dir)
	case errors.As(err, &writer):
		text, buttons := b.writersMessage(about{scene: refused, wish: c.wish, r: c.r, writers: writer.Writers}, c.from)
		return failure{text: text, buttons: buttons}
	case errors.As(err, &damaged):
		return b.damagedRefusal(c, damaged)
	case errors.As(err, &state) && state.State == session.CleanupFailed:
		now, ok := b.Records.Get(c.r.ID) // it may have failed since c was made
		if !ok {
			now = c.r
		}
		return failure{text: plain(b.notCleanText(now)), buttons: b.retryButton(now)}
	case errors.As(err, &state) && state.State == session.Stopping:
		return failure{text: plain(b.words.Say(i18n.StillEnding, name))}
	case errors.Is(err, session.ErrNotFound):
		return failure{text: plain(b.words.Say(i18n.NoSuchSession, name))}
	}
	return b.startFailure(err)
}

// agentFailure explains why something could not be done with an agent.
func (b *Bot) agentFailure(r session.Record, err error) failure {
	f := b.agentRefusal(r, err)
	f.session = r.ID
	return f
}

func (b *Bot) agentRefusal(r session.Record, err error) failure {
	state := (*lifecycle.StateError)(nil)
	switch {
	case errors.Is(err, lifecycle.ErrNoAgent), errors.Is(err, tmux.ErrNoPane):
		return failure{text: plain(b.words.Say(i18n.AlreadyEnded, i18n.Args{"Name": r.Name})), err: err}
	case errors.Is(err, tmux.ErrGuard):
		return failure{text: plain(b.words.Say(i18n.StopRefused, i18n.Args{"Name": r.Name, "Command": b.Sessions.Attach(r)})), err: err}
	case errors.As(err, &state):
		return failure{text: plain(b.words.Say(i18n.AlreadyEnded, i18n.Args{"Name": r.Name})), err: err}
	case errors.Is(err, lifecycle.ErrEvidence):
		return failure{text: plain(b.words.Say(i18n.EvidenceArchive, i18n.Args{"Name": r.Name})), err: err, internal: true}
	}
	return b.internal(err)
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n "), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
