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
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// tap does what an option says, if the writers are those that the person saw: the tap looks at them
// again. Else the message is drawn anew.
func (o *Others) tap(ctx context.Context, t chat.Tap, was shown) (chat.Answer, error) {
	q, ok := o.chat.Accepted(was.Resume, t)
	if !ok {
		return o.conflicts.Over(ctx, t)
	}
	return chat.Do(func(ctx context.Context) error {
		found, err := o.agents.Writers(ctx, q.Session.ID)
		c := conflict{was.Kind.now(q.Session), q, found}
		option := t.Card.Option
		ends, same := option == askOption || option == endOption, slices.Equal(c.shown().Writers, was.Writers)
		switch {
		case err != nil:
			return o.tellUnknown(ctx, t, err)
		case len(found) == 0:
			return errors.Join(o.tellFree(ctx, c, nil), o.conflicts.End(ctx, t, ""))
		case !same || c.kind != was.Kind || ends && !c.canEnd() || option == adoptOption && !c.canAdopt():
			return errors.Join(o.tell(ctx, t, i18n.WritersChanged), o.redraw(ctx, t, c, false))
		case option == askOption:
			return o.askEnd(ctx, t, c)
		case option == endOption:
			return o.end(ctx, t, c)
		case option == forkOption:
			return o.fork(ctx, t, c)
		case option == adoptOption:
			if adopted, err := o.adopt(ctx, t, found[0], q.Session); err != nil || !adopted {
				return err
			}
			return o.conflicts.End(ctx, t, "")
		}
		return o.redraw(ctx, t, c, true)
	})
}

func (o *Others) tell(ctx context.Context, t chat.Tap, key i18n.Key, args ...i18n.Args) error {
	return o.chat.Tell(ctx, t, o.words.Say(key, args...))
}

// tellUnknown says that it cannot be seen who writes, or what runs in a window.
func (o *Others) tellUnknown(ctx context.Context, t chat.Tap, err error) error {
	o.chat.Log.Warn("writers_unknown", "session_id", t.Card.Session.String(), "error", err.Error())
	return o.tell(ctx, t, i18n.WritersUnknown)
}

// tellFree says that nobody else writes any more, under lines of what was done before.
func (o *Others) tellFree(ctx context.Context, c conflict, before []string) error {
	r := c.resume.Session
	text := strings.Join(append(before, o.words.Say(i18n.WritersNone, i18n.Args{"Name": r.Name})), "\n")
	return o.chat.For(r.ID).Post(ctx, c.resume.To, render.Plain(text), o.chat.ResumeButton(r))
}

// redraw shows what is true now in the tapped message.
func (o *Others) redraw(ctx context.Context, t chat.Tap, c conflict, details bool) error {
	return o.conflicts.Redraw(ctx, t.Card.Key, o.look(c, details), c.shown())
}

// askEnd asks whether to end the writers; the person who tapped may confirm.
func (o *Others) askEnd(ctx context.Context, t chat.Tap, c conflict) error {
	text := o.words.Say(i18n.EndConfirm, i18n.Args{"Processes": o.names(c.processes())})
	return o.conflicts.Post(ctx, card.Look{To: t.To, Session: c.resume.Session.ID, Text: render.Plain(text),
		Options: o.chat.Confirm(phrases[c.kind].button, endOption, t.From)}, c.shown())
}

func (c conflict) processes() (all []desk.Process) {
	for _, one := range c.writers {
		all = append(all, one.Process)
	}
	return all
}

func (o *Others) names(all []desk.Process) string {
	var names []string
	for _, one := range all {
		names = append(names, o.chat.ProcessText(one))
	}
	return o.chat.Some(names, "; ")
}

// end ends the writers that a person has confirmed, and nothing else. A resume that was refused goes
// on when all of the writers are gone. Where one is not, the message that shows the writers still
// stands, and looks at them again.
func (o *Others) end(ctx context.Context, t chat.Tap, c conflict) error {
	names := i18n.Args{"Processes": o.names(c.processes())}
	if err := o.conflicts.End(ctx, t, o.words.Say(i18n.Taking, names)); err != nil {
		return err
	}
	endings, err := o.agents.EndWriters(ctx, c.resume.Session.ID, c.shown().Writers)
	said, all := make([]string, 0, len(endings)), err == nil && len(endings) > 0
	for _, e := range endings {
		said = append(said, o.endingText(e))
		all = all && e.Ended && e.Verified
	}
	switch {
	case len(said) == 0:
		said = append(said, o.words.Say(i18n.TakingFailed, names))
	case all && c.kind == resumeRefused:
		c.resume.Before = said
		_, err := o.Resume(ctx, c.resume)
		return err
	case all:
		return o.tellFree(ctx, c, said)
	}
	return errors.Join(o.chat.For(c.resume.Session.ID).Say(ctx, t.To, strings.Join(said, "\n")), err)
}

// endingText says what became of one process that a person wanted ended.
func (o *Others) endingText(e control.Ending) string {
	args := i18n.Args{"Process": o.chat.ProcessText(e.Process)}
	switch {
	case e.Ended && e.Verified:
		args["How"] = o.words.Say(i18n.HowKey(string(e.How)))
		return o.words.Say(i18n.EndingDone, args)
	case e.Reason != "":
		args["Reason"] = o.words.Say(i18n.ReasonKey(e.Reason))
		return o.words.Say(i18n.EndingSpared, args)
	}
	return o.words.Say(i18n.EndingUnknown, args)
}

// fork starts a session that begins with a copy of the conversation. An open session is archived
// before that: the other writer goes on with the original, of which a crash in between leaves one
// writer.
func (o *Others) fork(ctx context.Context, t chat.Tap, c conflict) error {
	from := c.resume.Session
	dir := cmp.Or(c.resume.Dir, from.Dir)
	if outside := o.chat.OutsideText(dir); outside != "" {
		return o.chat.Say(ctx, t.To, outside)
	}
	if c.kind == otherWriter {
		why := fmt.Sprintf("left to another writer, asked for by %d", t.From)
		if err := o.sessions.Archive(ctx, from.ID, views.Archived, why); err != nil {
			return o.chat.Explain(ctx, t.To, o.chat.Failure(from, err))
		}
	}
	r, err := o.sessions.Start(ctx, control.Start{Name: from.Name + "-fork", Dir: dir, Conversation: t.To,
		Owner: t.From, Origin: "tap-" + t.Card.Key, ForkOf: from.ClaudeSessionID})
	if err != nil {
		return o.chat.Explain(ctx, t.To, o.chat.Failure(views.Session{}, err))
	}
	if err := o.book.MakeCurrent(ctx, t.To, r.ID); err != nil {
		return err
	}
	dir = o.chat.Short(r.Dir)
	text := o.words.Say(i18n.ForkStarted, i18n.Args{"Name": r.Name, "From": from.Name, "Dir": dir})
	err = o.chat.For(r.ID).Post(ctx, t.To, chat.Marked(text, dir), nil)
	return errors.Join(err, o.conflicts.End(ctx, t, ""))
}
