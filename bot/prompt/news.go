package prompt

import (
	"context"

	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/port/news"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// onEntry tells news about the prompt of an entry.
type onEntry func(ctx context.Context, n news.Note, e inbox.Entry) error

// about finds the entry that news are about. A prompt that has left needs no news.
func (p *Prompts) about(tell onEntry) func(context.Context, news.Note) error {
	return func(ctx context.Context, n news.Note) error {
		e, err := p.Entries.Load(n.Prompt.Key)
		switch {
		case chat.IsGone(err):
			return nil
		case err != nil:
			return err
		}
		return tell(ctx, n, e)
	}
}

// marks says with a reaction how far a prompt is: too far for a question about it.
func (p *Prompts) marks(reaction string) onEntry {
	return func(ctx context.Context, _ news.Note, e inbox.Entry) error {
		p.Chat.Mark(ctx, e.Conversation, e.MessageID, reaction)
		if p.book.MayShow(e.Conversation) {
			p.Chat.Sender.Typing(ctx, e.Conversation)
		}
		return p.cards.Close(ctx, e.Key, render.Text{})
	}
}

// says says something about a prompt, under its message.
func (p *Prompts) says(word i18n.Key) onEntry {
	return func(ctx context.Context, n news.Note, e inbox.Entry) error {
		text := render.Plain(p.words.Say(word, i18n.Args{"Name": n.Session.Name}))
		return p.Chat.PostMessage(ctx,
			outbox.Message{To: e.Conversation, Text: text, ReplyTo: e.MessageID, Silent: true})
	}
}

// asks asks about a prompt that lies in the queue of its session.
func (p *Prompts) asks(why reason) onEntry {
	return func(ctx context.Context, n news.Note, e inbox.Entry) error {
		is := asked{Reason: why}
		if n.InBox {
			is.Reason = inBox
		}
		return p.ask(ctx, is, e, n.Session)
	}
}

// tellHeldDialog says that a prompt waits behind a dialog, or behind a request that the chat shows.
func (p *Prompts) tellHeldDialog(ctx context.Context, n news.Note, e inbox.Entry) error {
	if behind, err := p.offer(ctx, e, n.Session); behind || err != nil {
		return err
	}
	return p.says(i18n.HeldDialog)(ctx, n, e)
}

// tellDraft shows what a person had typed into the box, in full: it is about to be taken out there.
func (p *Prompts) tellDraft(ctx context.Context, n news.Note) error {
	head := render.Plain(p.words.Say(i18n.DraftCleared, i18n.Args{"Name": n.Session.Name}) + "\n")
	text := render.Join(head, render.Pre(n.Draft, ""))
	return p.Chat.For(n.Session.ID).Post(ctx, n.Session.Conversation, text, nil)
}
