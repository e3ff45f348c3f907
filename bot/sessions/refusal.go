package sessions

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/port/places"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// restoreFailure explains why a session could not come back, and offers what can be done.
func (m *Resumer) restoreFailure(q chat.Resume, err error) chat.Failure {
	f := m.restoreRefusal(q, err)
	f.Err, f.Session = err, q.Session.ID
	if len(q.Before) > 0 {
		f.Text = render.Join(render.Plain(q.Above("")), f.Text)
	}
	return f
}

func (m *Resumer) restoreRefusal(q chat.Resume, err error) chat.Failure {
	var dir *lifecycle.DirError
	var writer *lifecycle.WriterError
	var state *lifecycle.StateError
	var damaged *lifecycle.TranscriptError
	name := i18n.Args{"Name": q.Session.Name}
	switch {
	case errors.As(err, &dir):
		return m.dirRefusal(q, dir)
	case errors.As(err, &writer):
		text, buttons := m.writers.Refused(q, writer.Writers)
		return chat.Failure{Text: text, Buttons: buttons}
	case errors.As(err, &damaged):
		return m.damagedRefusal(q, damaged)
	case errors.As(err, &state) && state.State == session.CleanupFailed:
		now, ok := m.book.Records.Get(q.Session.ID) // it may have failed since q was made
		if !ok {
			now = q.Session
		}
		return chat.Failure{Text: render.Plain(m.chat.NotCleanText(now)), Buttons: m.chat.RetryButton(now)}
	case errors.As(err, &state) && state.State == session.Stopping:
		return chat.Failure{Text: render.Plain(m.words.Say(i18n.StillEnding, name))}
	case errors.Is(err, session.ErrNotFound):
		return chat.Failure{Text: render.Plain(m.words.Say(i18n.NoSuchSession, name))}
	}
	return m.chat.StartFailure(err)
}

// dirRefusal says that a session's directory cannot be used, and offers to make a missing one.
func (m *Resumer) dirRefusal(q chat.Resume, e *lifecycle.DirError) chat.Failure {
	word := i18n.DirNoAccess
	var buttons []outbox.Button
	switch e.Why {
	case lifecycle.DirMissing:
		word = i18n.DirGone
		buttons = append(buttons, m.chat.Button(i18n.ButtonMakeDir, "mkd:"+q.Data(), ""))
	case lifecycle.DirNotADir:
		word = i18n.DirNotADir
	}
	dir := m.chat.Short(e.Dir)
	text := m.words.Say(word, i18n.Args{"Name": q.Session.Name, "Dir": dir})
	return chat.Failure{Text: chat.Marked(text, dir), Buttons: chat.Rows(1, buttons...)}
}

// tapMakeDir makes a directory that is gone again, and resumes the session in it.
func (m *Resumer) tapMakeDir(_ context.Context, t chat.Tap) (chat.Answer, error) {
	q, ok := m.chat.TappedResume(t)
	if !ok {
		return m.chat.Stale(t)
	}
	dir := cmp.Or(q.Dir, q.Session.Dir)
	return chat.Do(func(ctx context.Context) error {
		if m.chat.OutsideText(dir) == "" { // else the resume says so
			if err := m.chat.Places.Make(dir); err != nil {
				args := i18n.Args{"Path": m.chat.Short(dir), "Reason": places.ReasonOf(err)}
				text := render.Plain(m.words.Say(i18n.MakeDirFailed, args))
				return m.chat.Explain(ctx, t.To, chat.Failure{Text: text, Err: err})
			}
		}
		return m.resumeTapped(ctx, t, q)
	})
}

// damagedRefusal says what is wrong with a transcript, and asks how to go on. Whatever is chosen,
// the original stays.
func (m *Resumer) damagedRefusal(q chat.Resume, e *lifecycle.TranscriptError) chat.Failure {
	mended, asIs := q, q
	mended.Damaged, asIs.Damaged = lifecycle.UseCopy, lifecycle.UseAsItIs
	if e.Nothing { // a copy of nothing is a new conversation
		text := m.words.Say(i18n.TranscriptEmpty, i18n.Args{"Name": q.Session.Name})
		return chat.Failure{Text: render.Plain(text), Buttons: chat.Rows(1,
			m.chat.Button(i18n.ButtonBeginAnew, "res:"+mended.Data(), outbox.Primary),
			m.chat.CancelButton(q.From))}
	}
	var faults []string
	for _, f := range e.Health.Faults {
		faults = append(faults, m.words.Say(i18n.FaultKey(string(f))))
	}
	args := i18n.Args{"Name": q.Session.Name, "Details": strings.Join(faults, "; ")}
	text := m.words.Say(i18n.TranscriptDamaged, args)
	return chat.Failure{Text: render.Plain(text), Buttons: chat.Rows(1,
		m.chat.Button(i18n.ButtonUseCopy, "res:"+mended.Data(), outbox.Primary),
		m.chat.Button(i18n.ButtonUseAsIs, "res:"+asIs.Data(), ""),
		m.chat.CancelButton(q.From))}
}
