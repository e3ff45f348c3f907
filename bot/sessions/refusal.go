package sessions

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/port/places"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// refuse explains why a session could not come back, and offers what can be done.
func (m *Resumer) refuse(ctx context.Context, q chat.Resume, err error) error {
	var dir *lifecycle.DirError
	var writer *lifecycle.WriterError
	var damaged *lifecycle.TranscriptError
	switch {
	case errors.As(err, &dir):
		return m.refuseDir(ctx, q, dir)
	case errors.As(err, &writer):
		m.logRefused(writer)
		return m.Writers.Refused(ctx, q, writer.Writers)
	case errors.As(err, &damaged):
		return m.askDamaged(ctx, q, damaged)
	}
	f := m.failure(q, err)
	f.Err, f.Session, f.Text = err, q.Session.ID, q.Above(f.Text)
	return m.chat.Explain(ctx, q.To, f)
}

func (m *Resumer) logRefused(why error) { m.chat.Log.Info("request_refused", "error", why.Error()) }

// failure says why a session could not come back where nothing can be chosen.
func (m *Resumer) failure(q chat.Resume, err error) chat.Failure {
	var state *lifecycle.StateError
	name := i18n.Args{"Name": q.Session.Name}
	switch {
	case errors.As(err, &state) && state.State == session.CleanupFailed:
		now, ok := m.book.Records.Get(q.Session.ID) // it may have failed since q was made
		if !ok {
			now = q.Session
		}
		return chat.Failure{Text: render.Plain(m.chat.NotCleanText(now)), Buttons: m.chat.ResumeButton(now)}
	case errors.As(err, &state) && state.State == session.Stopping:
		return chat.Failure{Text: render.Plain(m.words.Say(i18n.StillEnding, name))}
	case errors.Is(err, session.ErrNotFound):
		return chat.Failure{Text: render.Plain(m.words.Say(i18n.NoSuchSession, name))}
	}
	return m.chat.StartFailure(err)
}

// refuseDir says that a session's folder cannot be used, and offers to make a missing one.
func (m *Resumer) refuseDir(ctx context.Context, q chat.Resume, e *lifecycle.DirError) error {
	m.logRefused(e)
	word, options := i18n.DirNoAccess, []card.Option(nil)
	switch e.Why {
	case lifecycle.DirMissing:
		word, options = i18n.DirGone, []card.Option{m.chat.Option(i18n.ButtonMakeDir, "0", "")}
	case lifecycle.DirNotADir:
		word = i18n.DirNotADir
	}
	dir := m.chat.Short(e.Dir)
	text := chat.Marked(m.words.Say(word, i18n.Args{"Name": q.Session.Name, "Dir": dir}), dir)
	return m.offer(ctx, q.To, q.Session.ID, q.Above(text), []offer{{Offer: q.Offer(), MakeDir: true}}, options...)
}

// makeDir makes the folder of a session again. Where no session may be opened, the resume says so.
func (m *Resumer) makeDir(ctx context.Context, q chat.Resume) (made bool, err error) {
	dir := cmp.Or(q.Dir, q.Session.Dir)
	if m.chat.OutsideText(dir) != "" {
		return true, nil
	}
	err = m.chat.Places.Make(dir)
	if err == nil {
		return true, nil
	}
	args := i18n.Args{"Path": m.chat.Short(dir), "Reason": places.ReasonOf(err)}
	text := render.Plain(m.words.Say(i18n.MakeDirFailed, args))
	return false, m.chat.Explain(ctx, q.To, chat.Failure{Text: text, Err: err})
}

// askDamaged says what is wrong with a transcript, and asks how to go on. Whatever is chosen, the
// original stays.
func (m *Resumer) askDamaged(ctx context.Context, q chat.Resume, e *lifecycle.TranscriptError) error {
	m.logRefused(e)
	mended, asIs := q.Offer(), q.Offer()
	mended.Damaged, asIs.Damaged = lifecycle.UseCopy, lifecycle.UseAsItIs
	shown := []offer{{Offer: mended}, {Offer: asIs}}
	if e.Nothing { // a copy of nothing is a new conversation
		text := render.Plain(m.words.Say(i18n.TranscriptEmpty, i18n.Args{"Name": q.Session.Name}))
		return m.offer(ctx, q.To, q.Session.ID, q.Above(text), shown,
			m.chat.Option(i18n.ButtonBeginAnew, "0", outbox.Primary), m.chat.Cancel(q.From))
	}
	var faults []string
	for _, f := range e.Health.Faults {
		faults = append(faults, m.words.Say(i18n.FaultKey(string(f))))
	}
	args := i18n.Args{"Name": q.Session.Name, "Details": strings.Join(faults, "; ")}
	return m.offer(ctx, q.To, q.Session.ID, q.Above(render.Plain(m.words.Say(i18n.TranscriptDamaged, args))), shown,
		m.chat.Option(i18n.ButtonUseCopy, "0", outbox.Primary), m.chat.Option(i18n.ButtonUseAsIs, "1", ""), m.chat.Cancel(q.From))
}
