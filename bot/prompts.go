package bot

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// prompt passes a text to the current session. It stays in the inbox until
// there is proof that the agent has it, or it leaves with a sentence.
func (b *Bot) prompt(ctx context.Context, in incoming, text string) error {
	r, ok, err := b.addressed(in)
	if err != nil {
		return err
	}
	if !ok {
		return b.notDelivered(ctx, in, b.nowhereText(in), nil)
	}
	if !r.State.Live() && !r.Resumable() {
		return b.agentGone(ctx, in, r)
	}
	typed, class, ok := lifecycle.Normalise(b.withFiles(text, in.filesFor(r)))
	if !ok {
		return b.Fail(ctx, in.To, in.MessageID, render.Plain(b.words.Say(i18n.BlankText)), nil)
	}
	e, err := b.Entries.Load(in.Key)
	if err != nil {
		return err
	}
	e.Session, e.Conversation, e.MessageID = r.ID, in.To, in.MessageID
	e.Text, e.Class, e.Sent, e.Files = typed, string(class), sentAt(in.Incoming), in.filesFor(r)
	b.noteTarget(in.To, in.MessageID, in.Key, r)
	switch {
	case !r.State.Live():
		return b.askResume(ctx, e, r)
	case aged(e):
		return b.askAged(ctx, e, r)
	}
	return b.hold(ctx, in, r, e, text)
}

// hold puts a prompt on disk as one of its session's, and then into its queue.
func (b *Bot) hold(ctx context.Context, in incoming, r session.Record, e inbox.Entry, text string) error {
	if err := b.MoveTo(ctx, in.To, r); err != nil { // the answer comes to where the text came from
		return err
	}
	if err := b.unqueued.settle(ctx, r.ID); err != nil {
		return err
	}
	e.State = inbox.Held
	asked, behind := b.behind(e)
	e.Note = "" // nothing was told of it as a prompt
	if behind {
		e.Note = offered(asked) // here, also where other prompts wait before it
	}
	if err := b.Entries.Save(e); err != nil {
		return err
	}
	b.At("prompt-saved")
	b.Mark(ctx, in.To, in.MessageID, chat.ReactionStored) // before it is queued: what comes of it marks it next
	err := b.Sessions.Queue(ctx, r.ID, in.Key)
	if errors.Is(err, lifecycle.ErrNoAgent) && b.GoesOn(r.ID) {
		return b.promptAgain(ctx, in, e, text)
	}
	if err != nil {
		return b.notQueued(ctx, in, r, e, err)
	}
	b.Sender.Typing(ctx, in.To)
	if behind {
		return b.held.offer(ctx, e, asked)
	}
	return nil
}

// promptAgain gives a prompt to the session with which the conversation goes on
// since a moment. The entry is as it came, in case that one has ended, too.
func (b *Bot) promptAgain(ctx context.Context, in incoming, e inbox.Entry, text string) error {
	e.State = inbox.Accepted
	if err := b.Entries.Save(e); err != nil {
		return b.unqueued.unless(e.Key, e.Session, nil, err)
	}
	return b.prompt(ctx, in, text)
}

// notQueued tells that the agent of a prompt has ended meanwhile. After any other error it is as it came, to be tried again; or it is
// tried again as it is, where not even that can be written.
func (b *Bot) notQueued(ctx context.Context, in incoming, r session.Record, e inbox.Entry, why error) error {
	if errors.Is(why, lifecycle.ErrNoAgent) {
		if now, ok := b.Records.Get(r.ID); ok {
			r = now // it has ended since
		}
		if why = b.endPrompt(ctx, in, r, e); why == nil {
			return nil
		}
	}
	e.State = inbox.Accepted
	return b.unqueued.unless(e.Key, r.ID, why, b.Entries.Save(e))
}

// endPrompt tells that the agent has ended before a prompt could be queued for it.
func (b *Bot) endPrompt(ctx context.Context, in incoming, r session.Record, e inbox.Entry) error {
	if r.Resumable() {
		return b.askResume(ctx, e, r)
	}
	if err := b.agentGone(ctx, in, r); err != nil {
		return err
	}
	return b.Entries.Finish(in.Key)
}

// Homeless tells of prompts whose session is not there any more, and ends them.
func (b *Bot) Homeless(ctx context.Context, keys []string) error {
	for _, key := range keys {
		e, err := b.Entries.Load(key)
		if err != nil {
			return err
		}
		text := render.Join(render.Plain(b.words.Say(i18n.NotDelivered)+"\n"), chat.Quoted(e.Text))
		if err := b.Fail(ctx, e.Conversation, e.MessageID, text, nil); err != nil {
			return err
		}
		if err := b.Entries.Finish(key); err != nil {
			return err
		}
	}
	return nil
}

// notDelivered says that a text went nowhere, and what to do.
func (b *Bot) notDelivered(ctx context.Context, in incoming, why string, buttons [][]outbox.Button) error {
	return b.Fail(ctx, in.To, in.MessageID, render.Plain(why+"\n"+b.words.Say(i18n.NotDelivered)), buttons)
}

func (b *Bot) agentGone(ctx context.Context, in incoming, r session.Record) error {
	why := b.words.Say(i18n.AlreadyEnded, i18n.Args{"Name": r.Name})
	if r.State == session.CleanupFailed {
		why = b.NotCleanText(r)
	}
	return b.notDelivered(ctx, in, why, b.ResumeButton(r))
}

// runPrompts makes prompts of albums and queues what could not be queued.
func (b *Bot) runPrompts(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, part := range []func(context.Context) error{b.albums.Run, b.unqueued.Run} {
		g.Go(func() error { return part(ctx) })
	}
	return g.Wait()
}

// Prompts shows the inbox to lifecycle as the store of prompts.
type Prompts struct{ Inbox *inbox.Store }

// Prompt reads one; fs.ErrNotExist says that it is finished, or that a person is
// asked whether it is to be typed at all. Told has words of the chat's own, too,
// which come back with SavePrompt.
func (p Prompts) Prompt(key string) (lifecycle.Prompt, error) {
	e, err := p.Inbox.Load(key)
	if errors.Is(err, inbox.ErrNoEntry) {
		return lifecycle.Prompt{}, fs.ErrNotExist
	}
	if err != nil {
		return lifecycle.Prompt{}, err
	}
	if e.State == inbox.Asked {
		return lifecycle.Prompt{}, fs.ErrNotExist
	}
	q := lifecycle.Prompt{Key: key, Text: e.Text, Since: e.Received, Class: lifecycle.Class(e.Class),
		State: lifecycle.PromptState(e.State)}
	for told := range strings.FieldsSeq(e.Note) {
		q.Told = append(q.Told, lifecycle.NoteKind(told))
	}
	if m := e.Typing; m != nil {
		q.Mark = &lifecycle.Mark{At: m.At, Path: m.Path, Offset: m.Offset, Enters: m.Enters, Retreat: m.Retreat}
	}
	return q, nil
}

// SavePrompt puts a prompt's new state on disk.
func (p Prompts) SavePrompt(q lifecycle.Prompt) error {
	var told []string
	for _, kind := range q.Told {
		told = append(told, string(kind))
	}
	return p.Inbox.Change(q.Key, func(e *inbox.Entry) error {
		e.State, e.Note, e.Typing = inbox.State(q.State), strings.Join(told, " "), nil
		e.Text, e.Class = q.Text, string(q.Class) // which Reword changes
		if m := q.Mark; m != nil {
			e.Typing = &inbox.Mark{At: m.At, Path: m.Path, Offset: m.Offset, Enters: m.Enters, Retreat: m.Retreat}
		}
		return nil
	})
}

// MovePrompt makes a prompt another session's, durably; once more is nothing.
// fs.ErrNotExist says that it is finished.
func (p Prompts) MovePrompt(key string, to uuid.UUID) error {
	err := p.Inbox.Change(key, func(e *inbox.Entry) error {
		if e.Session == to {
			return errUnchanged
		}
		e.Session = to
		return nil
	})
	switch {
	case errors.Is(err, errUnchanged):
		return nil
	case errors.Is(err, inbox.ErrNoEntry):
		return fs.ErrNotExist
	}
	return err
}

var errUnchanged = errors.New("the entry is so already")

// FinishPrompt ends a prompt for good.
func (p Prompts) FinishPrompt(key string) error { return p.Inbox.Finish(key) }

// Waiting lists the unfinished prompts of each session, in order. Those that a
// person is asked about lie in no queue, and are none of them.
func (p Prompts) Waiting() (map[uuid.UUID][]string, error) {
	return p.bySession(inbox.Held, inbox.Typing, inbox.Unproven)
}

// Left is Waiting with those that a person is asked about: what has to be told
// before a session is forgotten.
func (p Prompts) Left() (map[uuid.UUID][]string, error) {
	return p.bySession(inbox.Held, inbox.Typing, inbox.Unproven, inbox.Asked)
}

func (p Prompts) bySession(states ...inbox.State) (map[uuid.UUID][]string, error) {
	entries, err := p.Inbox.List()
	if err != nil {
		return nil, err
	}
	all := make(map[uuid.UUID][]string)
	for _, e := range entries {
		if slices.Contains(states, e.State) {
			all[e.Session] = append(all[e.Session], e.Key)
		}
	}
	return all, nil
}
