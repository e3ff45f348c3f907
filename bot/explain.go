package bot

import (
	"errors"
	"os/exec"

	"ccbot/bot/chat"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/tmux"
)

// startFailure explains why a session could not be started.
func (b *Bot) startFailure(err error) chat.Failure {
	if text, ok := b.commonFailure(err); ok {
		return chat.Failure{Text: render.Plain(text), Err: err}
	}
	if writer := (*lifecycle.WriterError)(nil); errors.As(err, &writer) {
		return chat.Failure{Text: b.unsureText(writer.Writers), Err: err}
	}
	if errors.Is(err, lifecycle.ErrEvidence) {
		return chat.Failure{Text: render.Plain(b.words.Say(i18n.EvidenceStart)), Err: err, Internal: true}
	}
	return b.Internal(err)
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
	args := i18n.Args{"Path": b.Short(e.Dir), "Reason": string(e.Why)}
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
func (b *Bot) restoreFailure(c comeback, err error) chat.Failure {
	f := b.restoreRefusal(c, err)
	f.Err, f.Session = err, c.r.ID
	if len(c.before) > 0 {
		f.Text = render.Join(render.Plain(c.above("")), f.Text)
	}
	return f
}

func (b *Bot) restoreRefusal(c comeback, err error) chat.Failure {
	dir, writer, state := (*lifecycle.DirError)(nil), (*lifecycle.WriterError)(nil), (*lifecycle.StateError)(nil)
	damaged, name := (*lifecycle.TranscriptError)(nil), i18n.Args{"Name": c.r.Name}
	switch {
	case errors.As(err, &dir):
		return b.dirRefusal(c, dir)
	case errors.As(err, &writer):
		text, buttons := b.writersMessage(about{scene: refused, wish: c.wish, r: c.r, writers: writer.Writers}, c.from)
		return chat.Failure{Text: text, Buttons: buttons}
	case errors.As(err, &damaged):
		return b.damagedRefusal(c, damaged)
	case errors.As(err, &state) && state.State == session.CleanupFailed:
		now, ok := b.Records.Get(c.r.ID) // it may have failed since c was made
		if !ok {
			now = c.r
		}
		return chat.Failure{Text: render.Plain(b.notCleanText(now)), Buttons: b.retryButton(now)}
	case errors.As(err, &state) && state.State == session.Stopping:
		return chat.Failure{Text: render.Plain(b.words.Say(i18n.StillEnding, name))}
	case errors.Is(err, session.ErrNotFound):
		return chat.Failure{Text: render.Plain(b.words.Say(i18n.NoSuchSession, name))}
	}
	return b.startFailure(err)
}

// agentFailure explains why something could not be done with an agent.
func (b *Bot) agentFailure(r session.Record, err error) chat.Failure {
	f := b.agentRefusal(r, err)
	f.Session = r.ID
	return f
}

func (b *Bot) agentRefusal(r session.Record, err error) chat.Failure {
	state := (*lifecycle.StateError)(nil)
	switch {
	case errors.Is(err, lifecycle.ErrNoAgent), errors.Is(err, tmux.ErrNoPane):
		return chat.Failure{Text: render.Plain(b.words.Say(i18n.AlreadyEnded, i18n.Args{"Name": r.Name})), Err: err}
	case errors.Is(err, tmux.ErrGuard):
		return chat.Failure{Text: render.Plain(b.words.Say(i18n.StopRefused, i18n.Args{"Name": r.Name, "Command": b.Sessions.Attach(r)})), Err: err}
	case errors.As(err, &state):
		return chat.Failure{Text: render.Plain(b.words.Say(i18n.AlreadyEnded, i18n.Args{"Name": r.Name})), Err: err}
	case errors.Is(err, lifecycle.ErrEvidence):
		return chat.Failure{Text: render.Plain(b.words.Say(i18n.EvidenceArchive, i18n.Args{"Name": r.Name})), Err: err, Internal: true}
	}
	return b.Internal(err)
}
