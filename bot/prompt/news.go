package prompt

import (
	"context"
	"errors"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/port/news"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// held says why a prompt waits.
var held = map[news.Kind]i18n.Key{
	news.Queued:      i18n.Queued,
	news.HeldUnknown: i18n.HeldUnknown,
	news.HeldBash:    i18n.HeldBash,
	news.HeldDialog:  i18n.HeldDialog,
}

// tell says under a prompt, or asks, how far the prompt is. A prompt that has left needs no news.
func (p *Prompts) tell(ctx context.Context, n news.Note) error {
	return errors.Join(p.tellOne(ctx, n), p.recount(ctx, n.Session.ID))
}

func (p *Prompts) tellOne(ctx context.Context, n news.Note) error {
	e, err := p.Entries.Load(n.Prompt.Key)
	switch {
	case chat.IsGone(err):
		return nil
	case err != nil:
		return err
	}
	switch n.Kind {
	case news.Typed:
		return p.mark(ctx, e, chat.ReactionTyped, n.Session)
	case news.Delivered:
		return p.mark(ctx, e, chat.ReactionReceived, n.Session)
	case news.HeldDraft:
		return p.ask(ctx, asked{Reason: draft}, e, n.Session)
	case news.Unproven:
		why := unproven
		if n.InBox {
			why = inBox
		}
		return p.ask(ctx, asked{Reason: why}, e, n.Session)
	case news.HeldDialog:
		if shown, err := p.offer(ctx, e, n.Session); shown || err != nil {
			return err
		}
	}
	why, said := held[n.Kind], i18n.Args{"Name": n.Session.Name}
	if n.Kind == news.HeldDialog && n.Now.Phase.Waiting() && n.Now.What != "" {
		why, said["What"] = i18n.HeldAsk, p.Chat.AskedText(n.Now.What)
	}
	text := render.Plain(p.words.Say(why, said))
	return p.Chat.Post(ctx,
		card.Look{To: e.Conversation, Text: text, ReplyTo: e.MessageID, Silent: true})
}

// tellStopped asks about a prompt that was stopped before it was carried out, or typed. The agent may
// have had it, so that it is finished; from here on it waits, in no queue. Where its entry cannot be
// brought back the text is told without buttons: the agent's box is about to be emptied of it.
func (p *Prompts) tellStopped(ctx context.Context, n news.Note) error {
	e, err := p.Entries.Load(n.Prompt.Key)
	if chat.IsGone(err) {
		if e, err = p.Changes.Reopen(n.Prompt.Key, inbox.Asked); err != nil {
			p.Chat.Log.Warn("stopped_prompt_not_reopened", "key", n.Prompt.Key, "error", err.Error())
			text := asked{Reason: stopped}.text(p.Chat.Phrases, inbox.Entry{Text: n.Prompt.Text}, n.Session)
			return p.Chat.For(n.Session.ID).Post(ctx, n.Session.Conversation, text, nil)
		}
	}
	if err != nil {
		return err
	}
	p.Chat.Mark(ctx, e.Conversation, e.MessageID, chat.ReactionNone)
	why := stopped
	if e.State == inbox.Held {
		why = halted
	}
	return p.wait(ctx, why, e, n.Session)
}

// mark says with a reaction how far a prompt is: too far for a question about it.
func (p *Prompts) mark(ctx context.Context, e inbox.Entry, reaction string, r views.Session) error {
	p.Chat.Mark(ctx, e.Conversation, e.MessageID, reaction)
	if p.book.MayShow(e.Conversation) {
		p.Chat.Sender.Typing(ctx, e.Conversation)
	}
	c, _ := p.cards.Get(e.Key)
	return p.close(ctx, e.Key, passed(c, p.words, i18n.PromptSent, r))
}

// tellDraft shows what a person had typed into the box, in full: it is about to be taken out there.
func (p *Prompts) tellDraft(ctx context.Context, n news.Note) error {
	head := render.Plain(p.words.Say(i18n.DraftCleared, i18n.Args{"Name": n.Session.Name}) + "\n")
	text := render.Join(head, render.Pre(n.Draft, ""))
	return p.Chat.For(n.Session.ID).Post(ctx, n.Session.Conversation, text, nil)
}
