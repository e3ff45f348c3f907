package chat

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os/exec"

	"github.com/google/uuid"

	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/tmux"
)

// Failure is what a person is told of an error; the log has the chain.
type Failure struct {
	Text     render.Text
	Buttons  [][]outbox.Button // what can be done
	Err      error
	Internal bool      // only the log can say more
	Session  uuid.UUID // whose failure it is
}

// Internal is the failure that a person cannot do anything about.
func (p Phrases) Internal(err error) Failure {
	return Failure{Text: render.Plain(p.Words.Say(i18n.InternalError)), Err: err, Internal: true}
}

// StartFailure explains why a session could not be started.
func (p Phrases) StartFailure(err error) Failure {
	dir, writer := (*lifecycle.DirError)(nil), (*lifecycle.WriterError)(nil)
	f := Failure{Err: err}
	switch {
	case errors.As(err, &dir):
		f.Text = render.Plain(p.badDir(dir))
	case errors.Is(err, tmux.ErrNoTmux):
		f.Text = render.Plain(p.Words.Say(i18n.TmuxMissing))
	case errors.Is(err, lifecycle.ErrNoClaude):
		command := "claude"
		if missing := (*exec.Error)(nil); errors.As(err, &missing) {
			command = missing.Name
		}
		f.Text = render.Plain(p.Words.Say(i18n.ClaudeMissing, i18n.Args{"Command": command}))
	case errors.As(err, &writer):
		f.Text = p.unsure(writer.Writers)
	case errors.Is(err, lifecycle.ErrEvidence):
		f.Text, f.Internal = render.Plain(p.Words.Say(i18n.EvidenceStart)), true
	default:
		return p.Internal(err)
	}
	return f
}

func (p Phrases) badDir(e *lifecycle.DirError) string {
	args := i18n.Args{"Path": p.Short(e.Dir), "Reason": string(e.Why)}
	switch e.Why {
	case lifecycle.DirMissing:
		return p.Words.Say(i18n.PathMissing, args)
	case lifecycle.DirNotADir:
		return p.Words.Say(i18n.PathNotDir, args)
	}
	return p.Words.Say(i18n.PathUnreadable, args)
}

// AgentFailure explains why something could not be done with the agent of a session.
func (p Phrases) AgentFailure(r session.Record, err error) Failure {
	state, word, internal := (*lifecycle.StateError)(nil), i18n.AlreadyEnded, false
	switch {
	case errors.Is(err, lifecycle.ErrNoAgent), errors.Is(err, tmux.ErrNoPane), errors.As(err, &state):
	case errors.Is(err, lifecycle.ErrBoxBusy):
		word = i18n.BoxBusy
	case errors.Is(err, lifecycle.ErrDraftHidden):
		word = i18n.DraftHidden
	case errors.Is(err, tmux.ErrGuard):
		word = i18n.StopRefused
	case errors.Is(err, lifecycle.ErrEvidence):
		word, internal = i18n.EvidenceArchive, true
	default:
		f := p.Internal(err)
		f.Session = r.ID
		return f
	}
	args := i18n.Args{"Name": r.Name, "Command": p.Attach(r)}
	return Failure{Text: render.Plain(p.Words.Say(word, args)), Err: err, Internal: internal, Session: r.ID}
}

// IsGone reports whether an error says that a prompt or a session is not there any more, or not in the
// state that something was decided about.
func IsGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, inbox.ErrNoEntry) || errors.Is(err, session.ErrNotFound)
}

// Explain tells a failure. The update is handled with that.
func (c *Chat) Explain(ctx context.Context, to outbox.Conversation, f Failure) error {
	level := slog.LevelInfo // a refusal that the person understands
	if f.Internal {
		level = slog.LevelError
	}
	c.Log.Log(ctx, level, "request_refused", "error", f.Err.Error())
	return c.For(f.Session).Post(ctx, to, f.Text, f.Buttons)
}

// IsRefused reports whether Telegram will never take a message. From a chat that takes nothing now
// the message is only kept away until somebody there writes again.
func IsRefused(err error) bool {
	refused := (*outbox.Refused)(nil)
	return errors.As(err, &refused) && !errors.Is(err, outbox.ErrBlocked)
}
