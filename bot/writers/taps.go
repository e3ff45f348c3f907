package writers

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/each"
	"ccbot/port"
	"ccbot/port/refusal"
)

// tap carries out an option if a new check finds the writers that the person saw. Otherwise the
// message is redrawn.
func (o *Others) tap(ctx context.Context, t chat.Tap, was listed) (chat.Answer, error) {
	q, ok := o.chat.Accepted(was.Resume, t)
	if !ok {
		return o.conflicts.AnswerExpired(ctx, t)
	}
	return chat.Do(func(ctx context.Context) error {
		found, err := o.finder.Writers(ctx, q.Session.ID)
		c := conflict{was.Kind.now(q.Session), q, found}
		option := t.Card.Option
		ends := option == askOption || option == endOption
		same := c.kind == was.Kind && slices.Equal(c.listed().Writers, was.Writers)
		if ends || option == forkOption { // also a copy has what was said
			if err := o.chat.Book.MayEnter(t.To, q.Session); err != nil {
				return err
			}
		}
		switch {
		case err != nil:
			return o.explain(ctx, t, err)
		case len(found) == 0:
			return errors.Join(o.reportFree(ctx, c, nil), o.conflicts.End(ctx, t, ""))
		case !same || ends && !c.canEnd() || option == adoptOption && !c.canAdopt():
			redrawn := o.conflicts.Redraw(ctx, t.Card.Key, o.content(c, false), c.listed())
			return errors.Join(o.report(ctx, t, i18n.WritersChanged), redrawn)
		case option == askOption:
			p := o.chat.In(t.To) // the person who tapped may confirm
			text := p.Say(i18n.EndConfirm, i18n.Args{"Processes": names(p, c.processes())})
			content := card.Content{To: t.To, Session: c.resume.Session.ID, Text: render.Plain(text),
				Options: p.Confirm(phrases[c.kind].button, endOption, t.From)}
			return o.conflicts.Post(ctx, content, c.listed())
		case option == endOption:
			return o.end(ctx, t, c)
		case option == forkOption:
			return o.fork(ctx, t, c)
		case option == adoptOption:
			return o.adopt(ctx, t, found[0], q.Session, func(ctx context.Context) error {
				return o.conflicts.End(ctx, t, "")
			})
		}
		return o.conflicts.Redraw(ctx, t.Card.Key, o.content(c, true), c.listed())
	})
}

func (o *Others) report(ctx context.Context, t chat.Tap, key i18n.Key, args ...i18n.Args) error {
	return o.chat.ReplyToTap(ctx, t, o.chat.In(t.To).Text(key, args...))
}

// explain reports why nothing was done.
func (o *Others) explain(ctx context.Context, t chat.Tap, err error) error {
	return o.chat.Explain(ctx, t.To, o.chat.In(t.To).Failure(port.Session{}, err))
}

// reportFree reports that there are no other writers, under lines about earlier actions.
func (o *Others) reportFree(ctx context.Context, c conflict, before []string) error {
	r, p := c.resume.Session, o.chat.In(c.resume.To)
	text := chat.Lines(render.Plain(strings.Join(before, "\n")), p.Text(i18n.WritersNone, i18n.Args{"Name": r.Name}))
	return o.chat.Post(ctx, card.Content{To: c.resume.To, Session: r.ID, Text: text, Options: p.ResumeLink(r)})
}

func (c conflict) processes() []port.Process {
	return each.As(c.writers, func(one port.Writer) port.Process { return one.Process })
}

func names(p chat.Phrases, all []port.Process) string {
	return p.Some(each.As(all, p.ProcessText), p.Say(i18n.JoinItems))
}

// end ends the writers that a person has confirmed, and nothing else. A refused resume continues
// when all of the writers are gone. Otherwise the message that shows the writers stays, and is
// brought up to date.
func (o *Others) end(ctx context.Context, t chat.Tap, c conflict) error {
	p := o.chat.In(t.To)
	whom := i18n.Args{"Processes": names(p, c.processes())}
	if err := o.conflicts.End(ctx, t, p.Say(i18n.Taking, whom)); err != nil {
		return err
	}
	endings, err := o.ender.EndWriters(ctx, c.resume.Session.ID, c.listed().Writers)
	said, all := make([]string, 0, len(endings)), err == nil && len(endings) > 0
	for _, e := range endings {
		said = append(said, p.EndingText(e))
		all = all && e.Ended && e.Verified
	}
	var closed error
	for _, one := range o.conflicts.List() { // the message that has led here
		if all && one.Content.Session == c.resume.Session.ID {
			closed = errors.Join(closed, o.conflicts.Close(ctx, one.Key, render.Text{}))
		}
	}
	switch {
	case len(said) == 0:
		said = append(said, p.Say(i18n.TakingFailed, whom))
	case all && c.kind == resumeRefused:
		c.resume.Before = render.Plain(strings.Join(said, "\n"))
		_, err := o.resume(ctx, c.resume)
		return errors.Join(closed, err)
	case all:
		return errors.Join(closed, o.reportFree(ctx, c, said))
	}
	return errors.Join(o.chat.Post(ctx, card.Content{To: t.To, Session: c.resume.Session.ID, Text: render.Plain(strings.Join(said, "\n"))}), err)
}

// fork starts a session that begins with a copy of the conversation. An open session is archived
// before that: the other writer keeps the original, and a crash in between leaves it one writer.
func (o *Others) fork(ctx context.Context, t chat.Tap, c conflict) error {
	from := c.resume.Session
	dir := cmp.Or(c.resume.Dir, from.Dir)
	_, err := o.chat.Places.Resolve(ctx, "/", dir)
	if err == nil && c.resume.Dir == "" { // it may begin there, too
		_, err = o.chat.Places.Resolve(ctx, "/", cmp.Or(from.Start, dir))
	}
	if err != nil {
		return o.explain(ctx, t, err)
	}
	if c.kind == otherWriter {
		why := port.RequestedBy(t.From, "left to another writer, asked for")
		if err := o.ender.Archive(ctx, from.ID, port.StateArchived, why); err != nil {
			return o.chat.Explain(ctx, t.To, o.chat.In(t.To).Failure(from, err))
		}
	}
	name, origin := from.Name+"-fork", "tap-"+t.Card.Key
	at, err := o.chat.Book.Place(ctx, t.To, port.Session{Name: name}, origin)
	if err != nil {
		return err
	}
	begin := port.Start{Name: name, Dir: dir, Owner: t.From, Conversation: at, Origin: origin, ForkOf: from.AgentSessionID}
	r, err := o.starter.Start(ctx, begin)
	if refusal.Is(err, refusal.DirMissing) && c.resume.Dir == "" && dir != from.Start { // as a worktree that was removed
		begin.Dir = from.Start
		r, err = o.starter.Start(ctx, begin)
	}
	if err != nil {
		return o.explain(ctx, t, err)
	}
	if err := o.chat.Book.MakeCurrent(ctx, at, t.From, r.ID); err != nil {
		return err
	}
	text := o.chat.In(at).Text(i18n.ForkStarted, i18n.Args{"Name": r.Name, "From": from.Name, "Dir": render.Code(o.chat.Short(r.Dir))})
	err = o.chat.Post(ctx, card.Content{To: at, Session: r.ID, Text: text})
	return errors.Join(err, o.chat.Lead(ctx, t.To, r, at), o.conflicts.End(ctx, t, ""))
}

// adopt continues from the chat in the window where a person runs an agent, and redraws the tapped
// message. from is the session that had the conversation; it has no ID if there was none.
func (o *Others) adopt(ctx context.Context, t chat.Tap, one port.Writer, from port.Session,
	redraw func(context.Context) error) error {
	if _, err := o.chat.Places.Resolve(ctx, "/", cmp.Or(one.Dir, from.Dir)); err != nil {
		return o.explain(ctx, t, err)
	}
	if err := o.chat.Book.MayEnter(t.To, from); err != nil {
		return err
	}
	from.Name = cmp.Or(from.Name, path.Base(one.Dir))
	at, err := o.chat.Book.Place(ctx, t.To, from, string(one.ID))
	if err != nil {
		return err
	}
	r, err := o.makeSession(ctx, t, at, one, from)
	if err != nil || r.ID == uuid.Nil {
		return err
	}
	if err := o.chat.Book.Use(ctx, at, t.From, r); err != nil {
		return err
	}
	return errors.Join(o.reportAdopted(ctx, r, at, ""), o.chat.Lead(ctx, t.To, r, at), redraw(ctx))
}

// makeSession turns an agent that a person runs into a session, shown in a place. If that fails, it
// reports the reason, and the session has no ID.
func (o *Others) makeSession(ctx context.Context, t chat.Tap, at address.Conversation, one port.Writer,
	from port.Session) (port.Session, error) {
	r, err := o.starter.Adopt(ctx, port.Adopt{Agent: one.ID, From: from.ID, Owner: t.From,
		AgentSessionID: cmp.Or(from.AgentSessionID, one.AgentSessionID), Conversation: at, Why: port.RequestedBy(t.From, "asked for").Why})
	if refusal.Is(err, refusal.NotFound, refusal.WrongState) { // that is about from
		err = &refusal.Error{Code: refusal.Changed, Err: err}
	}
	if err != nil {
		return port.Session{}, o.explain(ctx, t, err)
	}
	return r, nil
}

// reportAdopted reports that a session continues in a window that a person opened, and what is
// different there.
func (o *Others) reportAdopted(ctx context.Context, r port.Session, to address.Conversation, news string) error {
	args := i18n.Args{"Name": r.Name, "Window": r.Window}
	text := []render.Text{o.chat.In(to).Text(i18n.Adopted, args)}
	if !r.Shared { // no shell keeps the window
		text = append(text, o.chat.In(to).Text(i18n.AdoptedBare, args))
	}
	text = append(text, o.chat.In(to).Text(i18n.AdoptedAsks))
	return o.chat.Post(ctx, card.Content{To: to, Session: r.ID, Text: o.chat.In(to).Sentences(text...), News: news})
}
