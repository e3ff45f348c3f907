package bot

import (
	"context"
	"fmt"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/lifecycle"
)

// SessionNews tells the chat what happened to a session. What it tells is on disk when it returns.
func (b *Bot) SessionNews(ctx context.Context, n lifecycle.Note) error {
	tell, ok := b.news[n.Kind]
	if !ok {
		return fmt.Errorf("unknown news %q", n.Kind)
	}
	for _, f := range b.rooms {
		if f.Heard == nil {
			continue
		}
		if err := b.hear(ctx, n, f.Name, f.Heard); err != nil {
			return err
		}
	}
	return b.hear(ctx, n, string(n.Kind), tell)
}

// hear gives news to one feature. News that a feature crashes at are told as an error of ours: told
// again, the feature would crash again, and the session would wait for it.
func (b *Bot) hear(ctx context.Context, n lifecycle.Note, who string, feature func(context.Context, lifecycle.Note) error) error {
	err := guarded(func() error { return feature(ctx, n) })
	if !b.logPanic(who, "news", err) {
		return err
	}
	return b.For(n.Session.ID).Say(ctx, n.Session.Conversation, chat.Warning+b.words.Say(i18n.InternalError))
}

// The news about prompts that a sentence or a reaction tells.

func (b *Bot) markTyped(ctx context.Context, n lifecycle.Note) error {
	b.markPrompt(ctx, n, chat.ReactionTyped)
	return nil
}

func (b *Bot) markReceived(ctx context.Context, n lifecycle.Note) error {
	b.markPrompt(ctx, n, chat.ReactionReceived)
	return nil
}

func (b *Bot) tellQueued(ctx context.Context, n lifecycle.Note) error {
	return b.replyNamed(ctx, n, i18n.Queued)
}

func (b *Bot) tellHeldUnknown(ctx context.Context, n lifecycle.Note) error {
	return b.replyNamed(ctx, n, i18n.HeldUnknown)
}

func (b *Bot) tellHeldBash(ctx context.Context, n lifecycle.Note) error {
	return b.replyNamed(ctx, n, i18n.HeldBash)
}

func (b *Bot) tellHeldDraft(ctx context.Context, n lifecycle.Note) error {
	return b.replyNamed(ctx, n, i18n.HeldDraft, b.Button(i18n.ButtonSendAnyway, "any:"+n.Prompt.Key, ""))
}

func (b *Bot) replyNamed(ctx context.Context, n lifecycle.Note, word i18n.Key, buttons ...outbox.Button) error {
	return b.reply(ctx, n, b.words.Say(word, i18n.Args{"Name": n.Session.Name}), buttons...)
}

// tellDraft shows what a person had typed into the box, in full: it is about to
// be taken out there.
func (b *Bot) tellDraft(ctx context.Context, n lifecycle.Note) error {
	head := render.Plain(b.words.Say(i18n.DraftCleared, i18n.Args{"Name": n.Session.Name}) + "\n")
	return b.For(n.Session.ID).Post(ctx, n.Session.Conversation, render.Join(head, render.Pre(n.Draft, "")), nil)
}

// reply says something about one message, under it.
func (b *Bot) reply(ctx context.Context, n lifecycle.Note, text string, buttons ...outbox.Button) error {
	e, err := b.Entries.Load(n.Prompt.Key)
	if err != nil {
		return err
	}
	return b.PostMessage(ctx, outbox.Message{To: e.Conversation, Text: render.Plain(text), ReplyTo: e.MessageID, Silent: true, Buttons: chat.Rows(2, buttons...)})
}

// markPrompt says with a reaction how far a prompt is.
func (b *Bot) markPrompt(ctx context.Context, n lifecycle.Note, reaction string) {
	e, err := b.Entries.Load(n.Prompt.Key)
	if err != nil {
		b.Log.Debug("receipt_without_entry", "error", err.Error())
		return
	}
	b.Mark(ctx, e.Conversation, e.MessageID, reaction)
	if b.MayShow(e.Conversation) {
		b.Sender.Typing(ctx, e.Conversation)
	}
}

// tellUnproven asks what to do with a prompt that may have been typed, and says
// whether it is known where it stands.
func (b *Bot) tellUnproven(ctx context.Context, n lifecycle.Note) error {
	e, err := b.Entries.Load(n.Prompt.Key)
	if err != nil {
		return err
	}
	head := b.words.Say(i18n.Unproven, i18n.Args{"Name": n.Session.Name, "Time": e.Received.Local().Format("15:04")})
	text := render.Join(render.Plain(head+"\n"), chat.Quoted(n.Prompt.Text))
	if n.InBox {
		text = render.Join(text, render.Plain("\n"+b.words.Say(i18n.UnprovenInBox)))
	}
	return b.Fail(ctx, e.Conversation, e.MessageID, text, chat.Rows(2,
		b.Button(i18n.ButtonSendAgain, "again:"+e.Key, outbox.Primary),
		b.Button(i18n.ButtonDrop, "drop:"+e.Key, "")))
}
