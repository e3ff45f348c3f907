package writers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/port/control"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/refusal"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// tap does what an option says, if the writers are those that the person saw: the tap looks at them
// again. Else the message is drawn anew.
func (w *Writers) tap(ctx context.Context, t chat.Tap, was shown) (chat.Answer, error) {
	q, ok := w.chat.Accepted(was.Resume, t)
	switch {
	case !ok:
		return w.cards.Over(ctx, t)
	case t.Card.Option == leaveOption:
		return chat.Answer{}, w.cards.End(ctx, t, w.words.Say(i18n.SecondLeft, i18n.Args{"Name": q.Session.Name}))
	}
	return chat.Do(func(ctx context.Context) error {
		c, err := w.present(ctx, t, was)
		switch {
		case refusal.Is(err, refusal.NotFound):
			return errors.Join(w.tell(ctx, t, i18n.StaleButton), w.cards.End(ctx, t, ""))
		case err != nil:
			return w.tellUnknown(ctx, t, q.Session, err)
		case c.kind != was.Kind || !slices.Equal(c.identities(), was.Writers):
			return w.tellChanged(ctx, t, c)
		}
		switch t.Card.Option {
		case askOption:
			return w.askEnd(ctx, t, c)
		case endOption:
			return w.endWriters(ctx, t, c)
		case forkOption:
			return w.fork(ctx, t, c)
		case adoptOption:
			return w.adopt(ctx, t, c, was)
		case resumeOption:
			return w.resume(ctx, t, c)
		}
		return w.redraw(ctx, t, c, true)
	})
}

var errForgotten = errors.New("the session is not known any more")

// present is what is true now of what a message showed.
func (w *Writers) present(ctx context.Context, t chat.Tap, was shown) (c conflict, err error) {
	q, ok := w.chat.Accepted(was.Resume, t)
	if !ok {
		return c, &refusal.Error{Code: refusal.NotFound, Err: errForgotten}
	}
	c.resume = q
	c.kind = was.Kind.now(c.session())
	c.unasked = c.kind == resumeRefused && (was.Unasked || was.Kind == otherWriter)
	c.writers, err = w.agents.Writers(ctx, c.session().ID)
	return c, err
}

// resume resumes the session, which nobody else writes any more.
func (w *Writers) resume(ctx context.Context, t chat.Tap, c conflict) error {
	if back, err := w.resumer.Resume(ctx, c.resume); err != nil || !back {
		return err
	}
	return w.cards.End(ctx, t, "")
}

func (w *Writers) tell(ctx context.Context, t chat.Tap, key i18n.Key, args ...i18n.Args) error {
	return w.chat.Tell(ctx, t, w.words.Say(key, args...))
}

func (w *Writers) tellUnknown(ctx context.Context, t chat.Tap, r views.Session, err error) error {
	w.chat.Log.Warn("writers_unknown", "session_id", r.ID.String(), "error", err.Error())
	return w.tell(ctx, t, i18n.WritersUnknown, i18n.Args{"Name": r.Name})
}

// tellChanged says that things are not any more as the person saw them, and shows how they are.
func (w *Writers) tellChanged(ctx context.Context, t chat.Tap, c conflict) error {
	return errors.Join(w.tell(ctx, t, i18n.WritersChanged), w.redraw(ctx, t, c, false))
}

// redraw shows what is true now in the tapped message. Who tapped may cancel what was asked for.
func (w *Writers) redraw(ctx context.Context, t chat.Tap, c conflict, details bool) error {
	text, options := w.look(c, details, t.From)
	look := card.Look{To: t.To, Session: c.session().ID, Text: text, Options: options}
	return w.cards.Redraw(ctx, t.Card.Key, look, c.shown())
}

// askEnd asks whether to end the writers; the person who tapped may confirm.
func (w *Writers) askEnd(ctx context.Context, t chat.Tap, c conflict) error {
	if !c.canEnd() {
		return w.tellChanged(ctx, t, c)
	}
	question, word, r := i18n.TakeBackConfirm, i18n.ButtonTakeOver, c.session()
	switch c.kind {
	case otherWriter:
		question = i18n.TakeOnlyConfirm
	case writerAfterEnd:
		question, word = i18n.StopConfirm, i18n.ButtonStopIt
		if !r.Resumable { // then /resume would be refused
			question = i18n.StopOnlyConfirm
		}
	}
	text := w.words.Say(question, i18n.Args{"Name": r.Name, "Processes": w.namesOf(c.writers)})
	look := card.Look{To: t.To, Session: r.ID, Text: render.Plain(text), Options: w.chat.Confirm(word, endOption, t.From)}
	return w.cards.Post(ctx, look, c.shown())
}

func (w *Writers) namesOf(all []desk.Writer) string {
	var names []string
	for _, one := range all {
		names = append(names, w.chat.ProcessText(one.Process))
	}
	return w.chat.Some(names, "; ")
}

// endWriters ends the writers that a person has confirmed, and nothing else. A resume that was
// refused goes on when all of the writers are gone.
func (w *Writers) endWriters(ctx context.Context, t chat.Tap, c conflict) error {
	if !c.canEnd() {
		return w.tellChanged(ctx, t, c)
	}
	names := i18n.Args{"Processes": w.namesOf(c.writers)}
	progress := card.Look{To: t.To, Session: c.session().ID, Text: render.Plain(w.words.Say(i18n.Taking, names))}
	if err := w.cards.Show(ctx, t.Card.Key, progress, shown{}); err != nil {
		return err
	}
	endings, err := w.agents.EndWriters(ctx, c.session().ID, c.identities())
	if err != nil && len(endings) == 0 {
		return errors.Join(w.cards.End(ctx, t, w.words.Say(i18n.TakingFailed, names)), w.chat.Explain(ctx, t.To, w.chat.Internal(err)))
	} else if err != nil { // what has ended is told all the same
		w.chat.Log.Error("record_not_saved", "session_id", c.session().ID.String(), "error", err.Error())
	}
	all := len(endings) > 0
	var said []string
	for _, e := range endings {
		said = append(said, w.chat.EndingText(e))
		all = all && e.Ended && e.Verified
	}
	if err := w.cards.End(ctx, t, strings.Join(said, "\n")); err != nil {
		w.chat.Log.Warn("card_not_closed", "error", err.Error())
	}
	if !all {
		return w.tellNotEnded(ctx, t, c, said)
	}
	return w.goOn(ctx, t, c, said)
}

// goOn does what was wanted once nobody else writes any more.
func (w *Writers) goOn(ctx context.Context, t chat.Tap, c conflict, said []string) error {
	if c.kind == resumeRefused {
		c.resume.Before = said
		_, err := w.resumer.Resume(ctx, c.resume)
		return err
	}
	said = append(said, w.words.Say(i18n.WritersNone, i18n.Args{"Name": c.session().Name}))
	text := render.Plain(strings.Join(said, "\n"))
	return w.chat.For(c.session().ID).Post(ctx, t.To, text, w.chat.ResumeButton(c.session()))
}

// tellNotEnded says who was not ended and why, and what can still be done.
func (w *Writers) tellNotEnded(ctx context.Context, t chat.Tap, c conflict, said []string) error {
	id := c.session().ID
	now, err := w.agents.Writers(ctx, id)
	if err != nil {
		w.chat.Log.Warn("writers_unknown", "session_id", id.String(), "error", err.Error())
		return w.chat.For(id).Say(ctx, t.To, strings.Join(said, "\n"))
	}
	c.writers = now
	return w.post(ctx, c, append(said, ""), t.To, t.From)
}

// fork starts a session that begins with a copy of the conversation. An open session is archived
// before that: the other writer goes on with the original, of which a crash in between leaves one
// writer.
func (w *Writers) fork(ctx context.Context, t chat.Tap, c conflict) error {
	origin, from := "tap-"+t.Card.Key, c.session()
	dir := cmp.Or(c.resume.Dir, from.Dir)
	if w.isStarted(origin) {
		return w.cards.End(ctx, t, "") // a crash came before this
	}
	if outside := w.chat.OutsideText(dir); outside != "" {
		return w.chat.Say(ctx, t.To, outside)
	}
	if c.kind == otherWriter {
		why := fmt.Sprintf("left to another writer, asked for by %d", t.From)
		if err := w.starter.Archive(ctx, from.ID, views.Archived, why); err != nil {
			return w.chat.Explain(ctx, t.To, w.chat.Failure(from, err))
		}
	}
	r, err := w.starter.Start(ctx, control.Start{Name: from.Name + "-fork", Dir: dir,
		Conversation: t.To, Owner: t.From, Origin: origin, ForkOf: from.ClaudeSessionID})
	if err != nil {
		return w.chat.Explain(ctx, t.To, w.forkFailure(c, err))
	}
	if err := w.book.MakeCurrent(ctx, t.To, r.ID); err != nil {
		return err
	}
	dir = w.chat.Short(r.Dir)
	text := w.words.Say(i18n.ForkStarted, i18n.Args{"Name": r.Name, "From": from.Name, "Dir": dir})
	if err := w.chat.For(r.ID).Post(ctx, t.To, chat.Marked(text, dir), nil); err != nil {
		return err
	}
	return w.cards.End(ctx, t, "")
}

// forkFailure explains why a copy was not started. An open session was given up for the copy
// already.
func (w *Writers) forkFailure(c conflict, err error) chat.Failure {
	f := w.chat.Failure(views.Session{}, err)
	if c.kind != otherWriter {
		return f
	}
	head := w.words.Say(i18n.ForkFailed, i18n.Args{"Name": c.session().Name})
	f.Text = render.Join(render.Plain(head+"\n"), f.Text)
	if now, ok := w.book.Records.Get(c.session().ID); ok {
		f.Buttons = w.chat.ResumeButton(now)
	}
	return f
}

// isStarted reports whether a session was already started for a tap.
func (w *Writers) isStarted(origin string) bool {
	return slices.ContainsFunc(w.book.Records.List(), func(r views.Session) bool {
		return r.Origin == origin && r.State != views.Failed
	})
}

// adopt goes on with a session in the terminal where somebody runs it.
func (w *Writers) adopt(ctx context.Context, t chat.Tap, c conflict, was shown) error {
	if !c.canAdopt() {
		return w.tellChanged(ctx, t, c)
	}
	one, from := c.writers[0], c.session()
	if outside := w.chat.OutsideText(cmp.Or(one.Dir, from.Dir)); outside != "" {
		return w.chat.Say(ctx, t.To, outside)
	}
	r, err := w.agents.Adopt(ctx, control.Adopt{Agent: one.ID,
		Claude: from.ClaudeSessionID, From: from.ID,
		Why: fmt.Sprintf("asked for by %d", t.From)})
	switch {
	case refusal.Is(err, refusal.NoTerminal):
		return w.tell(ctx, t, i18n.FootAdoptElsewhere)
	case refusal.Is(err, refusal.NoEvidence):
		return w.tellUnknown(ctx, t, from, err)
	case saysChanged(err):
		now, err := w.present(ctx, t, was)
		if err != nil {
			return w.tellUnknown(ctx, t, from, err)
		}
		return w.tellChanged(ctx, t, now)
	case err != nil:
		return fmt.Errorf("adopt: %w", err)
	}
	if err := w.book.Use(ctx, t.To, r); err != nil {
		return err
	}
	text := adoptedText(w.words, i18n.Adopted, r, one.Window.Name)
	if err := w.chat.For(r.ID).Say(ctx, t.To, text); err != nil {
		return err
	}
	return w.cards.End(ctx, t, "")
}
