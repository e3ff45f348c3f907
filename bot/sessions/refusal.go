package sessions

import (
	"cmp"
	"context"
	"strings"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/port/control"
	"ccbot/bot/port/places"
	"ccbot/bot/port/refusal"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// refuse explains why a session could not come back, and offers what can be done.
func (m *Resumer) refuse(ctx context.Context, q chat.Resume, err error) error {
	switch e := refusal.In(err); e.Code {
	case refusal.DirMissing, refusal.DirNotADir, refusal.DirNoAccess:
		return m.refuseDir(ctx, q, e)
	case refusal.Writers:
		m.logRefused(e)
		return m.Writers.Refused(ctx, q, e.Writers)
	case refusal.Damaged:
		return m.askDamaged(ctx, q, e)
	}
	f := m.failure(q, err)
	f.Err, f.Session, f.Text = err, q.Session.ID, q.Above(f.Text)
	return m.chat.Explain(ctx, q.To, f)
}

func (m *Resumer) logRefused(why error) { m.chat.Log.Info("request_refused", "error", why.Error()) }

// failure says why a session could not come back where nothing can be chosen.
func (m *Resumer) failure(q chat.Resume, err error) chat.Failure {
	switch e := refusal.In(err); {
	case e.Code == refusal.WrongState && e.State == views.CleanupFailed:
		now, ok := m.book.Records.Get(q.Session.ID) // it may have failed since q was made
		if !ok {
			now = q.Session
		}
		return chat.Failure{Text: render.Plain(m.chat.NotCleanText(now)), Buttons: m.chat.ResumeButton(now)}
	case e.Code == refusal.WrongState && e.State == views.Stopping:
		text := m.words.Say(i18n.StillEnding, i18n.Args{"Name": q.Session.Name})
		return chat.Failure{Text: render.Plain(text)}
	case e.Code == refusal.NotFound:
		return m.chat.Failure(q.Session, err)
	}
	return m.chat.Failure(views.Session{}, err)
}

// refuseDir says that a session's folder cannot be used, and offers to make a missing one.
func (m *Resumer) refuseDir(ctx context.Context, q chat.Resume, e *refusal.Error) error {
	m.logRefused(e)
	word, options := i18n.DirNoAccess, []card.Option(nil)
	switch e.Code {
	case refusal.DirMissing:
		word, options = i18n.DirGone, []card.Option{m.chat.Option(i18n.ButtonMakeDir, "0", "")}
	case refusal.DirNotADir:
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
func (m *Resumer) askDamaged(ctx context.Context, q chat.Resume, e *refusal.Error) error {
	m.logRefused(e)
	mended, asIs := q.Offer(), q.Offer()
	mended.Damaged, asIs.Damaged = control.UseCopy, control.UseAsItIs
	shown := []offer{{Offer: mended}, {Offer: asIs}}
	if e.Nothing { // a copy of nothing is a new conversation
		text := render.Plain(m.words.Say(i18n.TranscriptEmpty, i18n.Args{"Name": q.Session.Name}))
		return m.offer(ctx, q.To, q.Session.ID, q.Above(text), shown,
			m.chat.Option(i18n.ButtonBeginAnew, "0", outbox.Primary), m.chat.Cancel(q.From))
	}
	var faults []string
	for _, f := range e.Faults {
		faults = append(faults, m.words.Say(i18n.FaultKey(f)))
	}
	args := i18n.Args{"Name": q.Session.Name, "Details": strings.Join(faults, "; ")}
	return m.offer(ctx, q.To, q.Session.ID, q.Above(render.Plain(m.words.Say(i18n.TranscriptDamaged, args))), shown,
		m.chat.Option(i18n.ButtonUseCopy, "0", outbox.Primary), m.chat.Option(i18n.ButtonUseAsIs, "1", ""), m.chat.Cancel(q.From))
}
