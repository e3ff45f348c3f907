package prompt

import (
	"ccbot/bot/port/prompts"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/port/refusal"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
)

// Queue is the queue of prompts that each session has. Queue has a prompt held that is on disk, and
// Keep does so also for a session that is over; once more is nothing. Reword gives a prompt that is
// held another text. fs.ErrNotExist: it may be typed, or is finished.
type Queue interface {
	Queue(ctx context.Context, session uuid.UUID, key string) error
	Keep(ctx context.Context, session uuid.UUID, key string) error
	Reword(ctx context.Context, session uuid.UUID, key, text string, class prompts.Class) error
}

// Decisions carry out what a person decides about a prompt that lies in a queue. fs.ErrNotExist:
// the prompt does not wait for that any more.
type Decisions interface {
	SendAgain(ctx context.Context, session uuid.UUID, key string) error
	SendAnyway(ctx context.Context, session uuid.UUID, key string) error
	Drop(ctx context.Context, session uuid.UUID, key string) error
}

// Entries reads the inbox.
type Entries interface {
	Load(key string) (inbox.Entry, error)
	Find(to address.Conversation, message int) (inbox.Entry, error)
	List() ([]inbox.Entry, error)
}

// Changes writes the inbox. What is changed is on disk when the call returns.
type Changes interface {
	Change(key string, change func(e *inbox.Entry) error) error
	Finish(key string) error
	FinishIn(key string, state inbox.State) error
}

// Requests are what agents ask in the chat.
type Requests interface {
	// Behind is the request that a prompt waits behind, and that it may be the reason to deny;
	// empty where there is none.
	Behind(e inbox.Entry) (request string)
	// Offer says under the message of a prompt that it waits behind a request.
	Offer(ctx context.Context, e inbox.Entry, request string) error
}

// Resumer resumes sessions that are over.
type Resumer interface {
	Resume(ctx context.Context, q chat.Resume) (back bool, err error)
}

// Deps are what prompts work with.
type Deps struct {
	Chat        *chat.Chat
	Queue       Queue
	Decisions   Decisions
	Entries     Entries
	Changes     Changes
	Requests    Requests
	Resumer     Resumer
	Attachments *Attachments
}

// Prompts are the prompts of all sessions.
type Prompts struct {
	Deps
	book  *conversation.Book
	words i18n.Words
	cards card.Kind[asked]
}

// New returns the prompts of a chat.
func New(d Deps) *Prompts {
	return &Prompts{Deps: d, book: d.Chat.Book, words: d.Chat.Words, cards: card.NewKind[asked](d.Chat.Cards, kind, nil)}
}

// Message is one message of a person, with the files that came with it.
type Message struct {
	chat.Incoming
	Files   []string  // names below .ccbot-inbox
	Session uuid.UUID // with files: whose directory they lie in
	Dir     string    // that directory
}

// Take passes a text to the session that it is for. It stays in the inbox until there is proof that
// the agent has it, or it leaves with a sentence.
func (p *Prompts) Take(ctx context.Context, in Message, text string) error {
	r, ok, err := p.addressee(ctx, in)
	if err != nil || !ok {
		return err
	}
	typed, class, ok := prompts.Normalise(withFiles(text, in.FilesFor(r)))
	if !ok {
		return p.Chat.Fail(ctx, in.To, in.MessageID, render.Plain(p.words.Say(i18n.BlankText)), nil)
	}
	e, err := p.Entries.Load(in.Key)
	if err != nil {
		return err
	}
	e.Session, e.Conversation, e.MessageID = r.ID, in.To, in.MessageID
	e.Text, e.Class, e.Sent, e.Files = typed, string(class), sentAt(in.Incoming), in.FilesFor(r)
	p.noteTarget(in.To, in.MessageID, in.Key, r)
	switch {
	case !r.Live:
		return p.askResume(ctx, e, r)
	case aged(e):
		return p.askAged(ctx, e, r)
	}
	return p.hold(ctx, in, r, e, text)
}

// hold queues a prompt for its session. What cannot be written is tried again by the inbox: the
// entry is accepted until the queue holds it.
func (p *Prompts) hold(ctx context.Context, in Message, r views.Session, e inbox.Entry, text string) error {
	if err := p.book.MoveTo(ctx, in.To, r); err != nil { // the answer comes to where the text came from
		return later(err)
	}
	request := p.Requests.Behind(e) // offered here, also where other prompts wait before it
	e.State, e.Offered = inbox.Accepted, request
	if err := p.save(e); err != nil {
		return later(err)
	}
	p.Chat.Mark(ctx, in.To, in.MessageID, chat.ReactionStored) // before it is queued: what comes of it marks it next
	err := p.Queue.Queue(ctx, r.ID, in.Key)
	switch {
	case refusal.Is(err, refusal.NoAgent) && p.book.GoesOn(r.ID):
		return p.Take(ctx, in, text)
	case refusal.Is(err, refusal.NoAgent):
		if now, ok := p.book.Records.Get(r.ID); ok {
			r = now // it has ended since
		}
		if r.Resumable {
			return p.askResume(ctx, e, r)
		}
		if err := p.agentGone(ctx, in, r); err != nil {
			return err
		}
		return p.Changes.Finish(in.Key)
	case err != nil:
		return later(err)
	}
	p.Chat.Sender.Typing(ctx, in.To)
	if request == "" {
		return nil
	}
	return p.Requests.Offer(ctx, e, request)
}

// later has the inbox hand a prompt on until it can be kept.
func later(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("keep a prompt: %w: %w", inbox.ErrLater, err)
}

// askResume asks about a prompt whose session is over. Until a person has said so it is in no
// queue.
func (p *Prompts) askResume(ctx context.Context, e inbox.Entry, r views.Session) error {
	if err := p.book.NoteMessage(e.Conversation, e.MessageID, r.ID); err != nil { // so that what is said under it is the session's
		p.Chat.Log.Warn("message_not_noted", "chat_id", e.ChatID, "error", err.Error())
	}
	return p.wait(ctx, over, e, r)
}

func (p *Prompts) save(e inbox.Entry) error {
	return p.Changes.Change(e.Key, func(now *inbox.Entry) error { *now = e; return nil })
}

// Homeless tells of prompts whose session is not there any more, and ends them.
func (p *Prompts) Homeless(ctx context.Context, keys []string) error {
	for _, key := range keys {
		e, err := p.Entries.Load(key)
		if err != nil {
			return err
		}
		text := render.Join(render.Plain(p.words.Say(i18n.NotDelivered)+"\n"), chat.Quoted(e.Text))
		if err := p.Chat.Fail(ctx, e.Conversation, e.MessageID, text, nil); err != nil {
			return err
		}
		if err := errors.Join(p.Changes.Finish(key), p.closes(ctx, key)); err != nil {
			return err
		}
	}
	return nil
}

// notDelivered says that a text went nowhere, and what to do.
func (p *Prompts) notDelivered(ctx context.Context, in Message, why string, buttons [][]outbox.Button) error {
	return p.Chat.Fail(ctx, in.To, in.MessageID, render.Plain(why+"\n"+p.words.Say(i18n.NotDelivered)), buttons)
}

func (p *Prompts) agentGone(ctx context.Context, in Message, r views.Session) error {
	why := p.words.Say(i18n.AlreadyEnded, i18n.Args{"Name": r.Name})
	if r.State == views.CleanupFailed {
		why = p.Chat.NotCleanText(r)
	}
	return p.notDelivered(ctx, in, why, p.Chat.ResumeButton(r))
}

// nowhereText says why a text has no session that it could go to.
func (p *Prompts) nowhereText(in Message) string {
	if _, answered, _ := p.book.Answered(in.Message); answered {
		return p.words.Say(i18n.ReplyForgotten)
	}
	if now, ok, err := p.book.CurrentSession(in.To); err == nil && ok && p.book.Unsure(in.Message, now) {
		return p.words.Say(i18n.ReplyUnknown)
	}
	return p.Chat.NoSessionText()
}

// noteTarget keeps that a person's message is a session's prompt. What cannot be kept costs replies
// their way, never the prompt.
func (p *Prompts) noteTarget(to address.Conversation, message int, key string, r views.Session) {
	if to.ThreadID != 0 || p.book.IsCurrent(to, r) {
		key = ""
	}
	if err := p.book.NotePrompt(to, message, key, r.ID); err != nil {
		p.Chat.Log.Warn("message_not_noted", "chat_id", to.ChatID, "error", err.Error())
	}
}

// sentAt is when a message was sent, zero where that is not known.
func sentAt(in chat.Incoming) time.Time {
	if in.Sent.Unix() <= 0 {
		return time.Time{}
	}
	return in.Sent.UTC()
}
