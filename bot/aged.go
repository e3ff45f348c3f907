package bot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// Old is the age at which a message is not acted on unasked any more: so long
// after it was sent ccbot first read it, or so long ccbot was away while it was
// not typed. What waits for a turn to end is never old.
const Old = 15 * time.Minute

// aged says whether a person is to be asked before a message is acted on. A clock
// that was wrong makes nothing old: what was sent later than it came is fresh.
func aged(e inbox.Entry) bool {
	return e.Aged || !e.Sent.IsZero() && e.Received.Sub(e.Sent) > Old
}

// sentAt is when a message was sent, zero where that is not known.
func sentAt(in chat.Incoming) time.Time {
	if in.Sent.Unix() <= 0 {
		return time.Time{}
	}
	return in.Sent.UTC()
}

// tooLate says under a command that means the turn that runs that it is too old
// for that.
func (b *Bot) tooLate(ctx context.Context, in chat.Incoming, command string) (told bool, err error) {
	e, err := b.Entries.Load(in.Key)
	if err != nil {
		return false, err
	}
	e.Sent = sentAt(in)
	if !aged(e) {
		return false, nil
	}
	said := i18n.Args{"Command": command, "Time": b.Moment(sentOf(e))}
	return true, b.Fail(ctx, in.To, in.MessageID, render.Plain(b.words.Say(i18n.AgedCommand, said)), nil)
}

// sentOf is when a message was sent, or else when it was first seen.
func sentOf(e inbox.Entry) time.Time {
	if e.Sent.IsZero() {
		return e.Received
	}
	return e.Sent
}

// AskAged asks about the prompts that were not typed yet when ccbot was away for
// longer than Old. It belongs before the prompts are handed to their sessions.
// What only was to be handled is asked about when its turn comes.
func (b *Bot) AskAged(ctx context.Context, away time.Duration) error {
	entries, err := b.Entries.List()
	if err != nil {
		return err
	}
	for _, e := range entries {
		waits := e.State == inbox.Held || e.State == inbox.Accepted || e.State == inbox.Gathered
		if waits && away > Old && !e.Aged { // also where a person has said yes before that
			e.Aged = true
			err := b.Entries.Change(e.Key, func(e *inbox.Entry) error { e.Aged = true; return nil })
			if err != nil {
				return err
			}
		}
		r, known := b.Records.Get(e.Session)
		if e.State != inbox.Held || !e.Aged || !known || !b.MayShow(e.Conversation) {
			continue // or nobody knows the session, or nobody may be asked
		}
		if err := b.askAged(ctx, e, r); err != nil {
			return err
		}
	}
	return nil
}

// askAged asks whether a prompt is still to be typed. Until a person has said so
// it is in no queue. A crash between the question and its note asks once more.
func (b *Bot) askAged(ctx context.Context, e inbox.Entry, r session.Record) error {
	if now := b.Successor(r); now.Resumable() {
		return b.askResume(ctx, e, now)
	}
	head := b.words.Say(i18n.AgedAsk, i18n.Args{"Name": b.Successor(r).Name, "Time": b.Moment(sentOf(e))})
	err := b.Reply(ctx, e.Conversation, e.MessageID, render.Join(render.Plain(head+"\n"), chat.Quoted(e.Text)), chat.Rows(2,
		b.Button(i18n.ButtonSend, tapOldVerb+":"+tapOldSend+":"+e.Key, outbox.Primary),
		b.Button(i18n.ButtonDrop, tapOldVerb+":"+tapOldDrop+":"+e.Key, "")))
	if err != nil {
		return err
	}
	e.State, e.Aged, e.Told, e.Typing = inbox.Asked, false, nil, nil
	if err := b.Entries.Save(e); err != nil {
		return err
	}
	b.Mark(ctx, e.Conversation, e.MessageID, chat.ReactionStored)
	return nil
}

// Data of the buttons under a question about an old prompt.
const (
	tapOldVerb = "old"
	tapOldSend = "send"
	tapOldDrop = "drop"
)

// tapOld decides about an old prompt. Any allowed person of its chat may.
func (b *Bot) tapOld(_ context.Context, t chat.Tap) (chat.Answer, error) {
	if len(t.Args) != 2 {
		return b.Stale(t)
	}
	e, err := b.Entries.Load(t.Args[1])
	switch {
	case errors.Is(err, inbox.ErrNoEntry):
		return b.Stale(t)
	case err != nil:
		return chat.Answer{}, err
	case e.State != inbox.Asked || e.Conversation.ChatID != t.To.ChatID:
		return b.Stale(t)
	case t.Args[0] == tapOldSend:
		return b.sendOld(t, e)
	case t.Args[0] == tapOldDrop:
		return b.dropOld(t, e)
	}
	return b.Stale(t)
}

func (b *Bot) dropOld(t chat.Tap, e inbox.Entry) (chat.Answer, error) {
	err := b.Entries.FinishIn(e.Key, inbox.Asked)
	switch {
	case isGone(err): // [Send] under another question about it was quicker
		return b.Stale(t)
	case err != nil:
		return chat.Answer{}, err
	}
	return chat.Do(func(ctx context.Context) error {
		b.Mark(ctx, e.Conversation, e.MessageID, chat.ReactionNone)
		return b.Replace(ctx, t, fmt.Sprintf("%s\n\n%s", t.Text, b.words.Say(i18n.Dropped)))
	})
}

// sendOld puts an old prompt at the end of its session's queue. While the session is over the
// question stays: the person may bring it back first.
func (b *Bot) sendOld(t chat.Tap, e inbox.Entry) (chat.Answer, error) {
	r, ok := b.Records.Get(e.Session)
	if !ok {
		return chat.Answer{Text: b.words.Say(i18n.StaleButton), Then: func(ctx context.Context) error {
			return errors.Join(b.Homeless(ctx, []string{e.Key}), b.Spend(ctx, t))
		}}, nil
	}
	r = b.Successor(r)
	name := i18n.Args{"Name": r.Name}
	if !r.State.Live() {
		return b.alert(i18n.AlreadyEnded, name)
	}
	return chat.Do(func(ctx context.Context) error {
		switch err := b.queueOld(ctx, e, r); {
		case isGone(err):
			return b.Overtaken(ctx, t)
		case errors.Is(err, lifecycle.ErrNoAgent):
			return b.tell(ctx, t, i18n.AlreadyEnded, name)
		case err != nil:
			return err
		}
		return b.Replace(ctx, t, fmt.Sprintf("%s\n\n%s", t.Text, b.words.Say(i18n.AgedSent, name)))
	})
}

// queueOld has a prompt held for a session again. Where that cannot be queued, the
// person stays asked.
func (b *Bot) queueOld(ctx context.Context, e inbox.Entry, r session.Record) error {
	if err := b.MoveTo(ctx, e.Conversation, r); err != nil { // the answer comes to where the text came from
		return err
	}
	return b.Sessions.Queue(ctx, r.ID, e.Key)
}
