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

// Feature is what the roof knows of prompts.
func (p *Prompts) Feature() chat.Feature {
	return chat.Feature{
		Name:  "prompt",
		Cards: map[string]chat.OnTap{kind: p.tap},
		News: map[news.Kind]func(context.Context, news.Note) error{
			news.Typed:        p.markTyped,
			news.Delivered:    p.markDelivered,
			news.Queued:       p.about(p.says(i18n.Queued)),
			news.HeldUnknown:  p.about(p.says(i18n.HeldUnknown)),
			news.HeldBash:     p.about(p.says(i18n.HeldBash)),
			news.HeldDialog:   p.about(p.tellHeldDialog),
			news.HeldDraft:    p.about(p.asks(draft)),
			news.Unproven:     p.about(p.asks(unproven)),
			news.DraftCleared: p.tellDraft,
		},
		Run: p.tidy,
	}
}

func (p *Prompts) markTyped(ctx context.Context, n news.Note) error {
	p.mark(ctx, n, chat.ReactionTyped)
	return nil
}

// markDelivered closes the question about the prompt, too: the agent has the prompt.
func (p *Prompts) markDelivered(ctx context.Context, n news.Note) error {
	p.mark(ctx, n, chat.ReactionReceived)
	return p.closes(ctx, n.Prompt.Key)
}

// mark says with a reaction how far a prompt is.
func (p *Prompts) mark(ctx context.Context, n news.Note, reaction string) {
	e, err := p.Entries.Load(n.Prompt.Key)
	if err != nil {
		p.Chat.Log.Debug("receipt_without_entry", "error", err.Error())
		return
	}
	p.Chat.Mark(ctx, e.Conversation, e.MessageID, reaction)
	if p.book.MayShow(e.Conversation) {
		p.Chat.Sender.Typing(ctx, e.Conversation)
	}
}

// onEntry tells news about the prompt of an entry.
type onEntry func(ctx context.Context, n news.Note, e inbox.Entry) error

// about finds the entry that news are about.
func (p *Prompts) about(tell onEntry) func(context.Context, news.Note) error {
	return func(ctx context.Context, n news.Note) error {
		e, err := p.Entries.Load(n.Prompt.Key)
		if err != nil {
			return err
		}
		return tell(ctx, n, e)
	}
}

// says says something about a prompt, under its message.
func (p *Prompts) says(word i18n.Key) onEntry {
	return func(ctx context.Context, n news.Note, e inbox.Entry) error {
		text := render.Plain(p.words.Say(word, i18n.Args{"Name": n.Session.Name}))
		return p.Chat.PostMessage(ctx, outbox.Message{To: e.Conversation, Text: text, ReplyTo: e.MessageID, Silent: true})
	}
}

// asks asks about a prompt that lies in the queue of its session.
func (p *Prompts) asks(why reason) onEntry {
	return func(ctx context.Context, n news.Note, e inbox.Entry) error {
		e.Text = n.Prompt.Text
		return p.ask(ctx, why, subject{Entry: e, inBox: n.InBox}, n.Session)
	}
}

// tellHeldDialog says that a prompt waits behind a dialog. Behind a request that the chat shows the
// prompt may as well be the reason to deny the request.
func (p *Prompts) tellHeldDialog(ctx context.Context, n news.Note, e inbox.Entry) error {
	switch request := p.Requests.Behind(e); request {
	case "":
		return p.says(i18n.HeldDialog)(ctx, n, e)
	case e.Offered:
		return nil
	default:
		return p.Requests.Offer(ctx, e, request)
	}
}

// tellDraft shows what a person had typed into the box, in full: it is about to be taken out there.
func (p *Prompts) tellDraft(ctx context.Context, n news.Note) error {
	head := render.Plain(p.words.Say(i18n.DraftCleared, i18n.Args{"Name": n.Session.Name}) + "\n")
	return p.Chat.For(n.Session.ID).Post(ctx, n.Session.Conversation, render.Join(head, render.Pre(n.Draft, "")), nil)
}
