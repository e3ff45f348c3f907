package writers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// onWriters is a tap on a button about writers: the tap looks at the writers again, and calls do
// only if they are those that the person saw. Else the message is drawn anew.
func (w *Writers) onWriters(k kind, do func(ctx context.Context, t chat.Tap, c conflict) error) chat.OnTap {
	return func(_ context.Context, t chat.Tap) (chat.Answer, error) {
		q, ok := w.chat.TappedResume(t)
		if !ok {
			return w.chat.Stale(t)
		}
		return chat.Do(func(ctx context.Context) error {
			c := conflict{resume: q}
			if ok, err := w.look(ctx, t, &c); err != nil || !ok {
				return err
			}
			c.kind = k.now(c.session())
			unasked := k == otherWriter || len(t.Args) > 2 && t.Args[2] == unaskedMark
			c.unasked = c.kind == resumeRefused && unasked
			if c.kind != k || len(t.Args) < 2 || t.Args[1] != Mark(c.identities()) {
				return w.tellChanged(ctx, t, c)
			}
			return do(ctx, t, c)
		})
	}
}

// unaskedMark stands in the buttons of a message that began as a message about a session that was
// open: nobody had asked for the session to come back.
const unaskedMark = "n"

func (w *Writers) tell(ctx context.Context, t chat.Tap, key i18n.Key, args ...i18n.Args) error {
	return w.chat.Tell(ctx, t, w.words.Say(key, args...))
}

// look finds who else writes a session at this moment. Where that is unknown, the person is told
// so.
func (w *Writers) look(ctx context.Context, t chat.Tap, c *conflict) (ok bool, err error) {
	c.writers, err = w.agents.Writers(ctx, c.session().ID)
	switch {
	case errors.Is(err, session.ErrNotFound):
		return false, w.chat.Overtaken(ctx, t)
	case err != nil:
		return false, w.tellUnknown(ctx, t, c.session(), err)
	}
	return true, nil
}

func (w *Writers) tellUnknown(ctx context.Context, t chat.Tap, r session.Record, err error) error {
	w.chat.Log.Warn("writers_unknown", "session_id", r.ID.String(), "error", err.Error())
	return w.tell(ctx, t, i18n.WritersUnknown, i18n.Args{"Name": r.Name})
}

// tellChanged says that things are not any more as the person saw them, and shows how they are.
func (w *Writers) tellChanged(ctx context.Context, t chat.Tap, c conflict) error {
	return errors.Join(w.tell(ctx, t, i18n.WritersChanged), w.redraw(ctx, t, c))
}

// redraw sets the message to what is true now.
func (w *Writers) redraw(ctx context.Context, t chat.Tap, c conflict) error {
	text, buttons := w.message(c, t.From)
	return w.chat.Redraw(ctx, t, text.Split(render.Limit)[0], buttons)
}

// showDetails shows all that is known of the writers. The buttons stay.
func (w *Writers) showDetails(ctx context.Context, t chat.Tap, c conflict) error {
	c.details = true
	return w.redraw(ctx, t, c)
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
		if !r.Resumable() { // then /resume would be refused
			question = i18n.StopOnlyConfirm
		}
	}
	text := w.words.Say(question, i18n.Args{"Name": r.Name, "Processes": w.namesOf(c.writers)})
	yes := fmt.Sprintf("%sdo:%s:%s:%d", c.kind, c.resume.Data(), Mark(c.identities()), t.From)
	buttons := chat.Rows(2, w.chat.Button(word, yes, outbox.Danger), w.chat.CancelButton(t.From))
	return w.chat.For(r.ID).Post(ctx, t.To, render.Plain(text), buttons)
}

func (w *Writers) namesOf(all []lifecycle.Writer) string {
	var names []string
	for _, one := range all {
		names = append(names, w.chat.ProcessText(one.Process, one.Age))
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
	w.chat.Progress(ctx, t, w.words.Say(i18n.Taking, names))
	endings, err := w.agents.EndWriters(ctx, c.session().ID, c.identities())
	if err != nil && len(endings) == 0 {
		w.chat.Progress(ctx, t, w.words.Say(i18n.TakingFailed, names))
		return w.chat.Explain(ctx, t.To, w.chat.Internal(err))
	} else if err != nil { // what has ended is told all the same
		w.chat.Log.Error("record_not_saved", "session_id", c.session().ID.String(), "error", err.Error())
	}
	all := len(endings) > 0
	var said []string
	for _, e := range endings {
		said = append(said, w.endingText(e))
		all = all && e.Ended && e.Verified
	}
	w.chat.Progress(ctx, t, strings.Join(said, "\n"))
	if !all {
		return w.tellNotEnded(ctx, t, c, said)
	}
	return w.goOn(ctx, t, c, said)
}

// endingText says what became of one process that a person wanted ended.
func (w *Writers) endingText(e lifecycle.Ending) string {
	args := i18n.Args{"Process": w.chat.ProcessText(e.Process, e.Age)}
	switch {
	case e.Ended && e.Verified:
		args["How"] = w.words.Say(i18n.HowKey(string(e.How)))
		return w.words.Say(i18n.EndingDone, args)
	case e.Reason != "":
		args["Reason"] = w.words.Say(i18n.ReasonKey(e.Reason))
		return w.words.Say(i18n.EndingSpared, args)
	}
	return w.words.Say(i18n.EndingUnknown, args)
}

// goOn does what was wanted once nobody else writes any more.
func (w *Writers) goOn(ctx context.Context, t chat.Tap, c conflict, said []string) error {
	if c.kind == resumeRefused {
		c.resume.Before = said
		_, err := w.resumer.Resume(ctx, c.resume)
		return err
	}
	text, buttons := w.nobodyMessage(c)
	text = render.Join(render.Plain(strings.Join(said, "\n")+"\n"), text)
	return w.chat.For(c.session().ID).Post(ctx, t.To, text, buttons)
}

// tellNotEnded says who was not ended and why, and what can still be done.
func (w *Writers) tellNotEnded(ctx context.Context, t chat.Tap, c conflict, said []string) error {
	id, text := c.session().ID, render.Plain(strings.Join(said, "\n"))
	now, err := w.agents.Writers(ctx, id)
	if err != nil {
		w.chat.Log.Warn("writers_unknown", "session_id", id.String(), "error", err.Error())
		return w.chat.For(id).Post(ctx, t.To, text, nil)
	}
	c.writers = now
	rest, buttons := w.message(c, t.From)
	return w.chat.For(id).Post(ctx, t.To, render.Join(text, render.Plain("\n\n"), rest), buttons)
}

// fork starts a session that begins with a copy of the conversation. An open session is archived
// before that: the other writer goes on with the original, of which a crash in between leaves one
// writer.
func (w *Writers) fork(ctx context.Context, t chat.Tap, c conflict) error {
	origin, from := fmt.Sprintf("tap-%d-%d", t.To.ChatID, t.Message), c.session()
	dir := cmp.Or(c.resume.Dir, from.Dir)
	if w.isStarted(origin) {
		return w.chat.Overtaken(ctx, t) // a double tap
	}
	if outside := w.chat.OutsideText(dir); outside != "" {
		return w.chat.Say(ctx, t.To, outside)
	}
	if c.kind == otherWriter {
		why := fmt.Sprintf("left to another writer, asked for by %d", t.From)
		if err := w.starter.Archive(ctx, from.ID, session.Archived, why); err != nil {
			return w.chat.Explain(ctx, t.To, w.chat.AgentFailure(from, err))
		}
	}
	r, err := w.starter.Start(ctx, lifecycle.StartRequest{Name: from.Name + "-fork", Dir: dir,
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
	return w.chat.Spend(ctx, t)
}

// forkFailure explains why a copy was not started. An open session was given up for the copy
// already.
func (w *Writers) forkFailure(c conflict, err error) chat.Failure {
	f := w.chat.StartFailure(err)
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
	return slices.ContainsFunc(w.book.Records.List(), func(r session.Record) bool {
		return r.Origin == origin && r.State != session.Failed
	})
}

// adopt goes on with a session in the terminal where somebody runs it.
func (w *Writers) adopt(ctx context.Context, t chat.Tap, c conflict) error {
	if !c.canAdopt() {
		return w.tellChanged(ctx, t, c)
	}
	one, from := c.writers[0], c.session()
	if outside := w.chat.OutsideText(cmp.Or(one.Cwd, from.Dir)); outside != "" {
		return w.chat.Say(ctx, t.To, outside)
	}
	r, err := w.agents.Adopt(ctx, lifecycle.AdoptRequest{Agent: one.Identity,
		Claude: from.ClaudeSessionID, From: from.ID, Asked: true, Rule: "chat.adopt",
		Why: fmt.Sprintf("asked for by %d", t.From)})
	if err != nil {
		return notAdopted{
			noTerminal: func() error { return w.tell(ctx, t, i18n.FootAdoptElsewhere) },
			unknown:    func() error { return w.tellUnknown(ctx, t, from, err) },
			changed:    func() error { return w.lookAgain(ctx, t, c) },
		}.explain(err)
	}
	if err := w.book.Use(ctx, t.To, r); err != nil {
		return err
	}
	text := adoptedText(w.words, i18n.Adopted, r, one.Pane.WindowName)
	if err := w.chat.For(r.ID).Say(ctx, t.To, text); err != nil {
		return err
	}
	return w.chat.Spend(ctx, t)
}

// lookAgain looks once more at a session whose writers are not as the person saw them.
func (w *Writers) lookAgain(ctx context.Context, t chat.Tap, c conflict) error {
	now, ok := w.book.Records.Get(c.session().ID)
	if !ok {
		return w.chat.Overtaken(ctx, t)
	}
	c.resume.Session = w.book.Successor(now)
	if ok, err := w.look(ctx, t, &c); err != nil || !ok {
		return err
	}
	c.kind = writerAfterEnd.now(c.session())
	return w.tellChanged(ctx, t, c)
}

// tapLeaveBoth leaves both writers as they are.
func (w *Writers) tapLeaveBoth(_ context.Context, t chat.Tap) (chat.Answer, error) {
	r, ok := w.chat.TappedSession(t)
	if !ok {
		return w.chat.Stale(t)
	}
	return chat.Do(func(ctx context.Context) error {
		return w.chat.Replace(ctx, t, w.words.Say(i18n.SecondLeft, i18n.Args{"Name": r.Name}))
	})
}
