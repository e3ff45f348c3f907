package bot

import (
	"context"
	"fmt"
	"strconv"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// kill asks whether to end a session and archive it.
func (b *Bot) kill(ctx context.Context, in chat.Incoming, arg string) error {
	return b.askEnd(ctx, in, arg, "kill", i18n.KillConfirm, i18n.ButtonKill)
}

// done asks whether to end a session as completed.
func (b *Bot) done(ctx context.Context, in chat.Incoming, arg string) error {
	return b.askEnd(ctx, in, arg, "done", i18n.DoneConfirm, i18n.ButtonDone)
}

// askEnd asks first; only who asked may confirm, so their id is in the button.
func (b *Bot) askEnd(ctx context.Context, in chat.Incoming, arg, verb string, question, word i18n.Key) error {
	r, ok, err := b.FindFor(in.Message, arg, endable)
	if err != nil {
		return err
	}
	if !ok {
		return b.noSession(ctx, in, arg)
	}
	return b.For(r.ID).Post(ctx, in.To, render.Plain(b.words.Say(question, i18n.Args{"Name": r.Name})), chat.Rows(2,
		b.Button(word, fmt.Sprintf("%s:%s:%d:%s", verb, ref(r.ID), in.From, life(r)), outbox.Danger),
		b.cancelButton(in.From)))
}

// life names one launch of a session: what was asked about it is not confirmed for
// a later one.
func life(r session.Record) string { return strconv.FormatInt(r.StartedAt.Unix(), 36) }

// cancelButton takes a question back; only who was asked may.
func (b *Bot) cancelButton(asked int64) outbox.Button {
	return b.Button(i18n.ButtonCancel, fmt.Sprintf("no:%d", asked), "")
}

// end archives a session that a person confirmed. The receipt comes as news.
func (b *Bot) end(ctx context.Context, t chat.Tap, r session.Record, final session.State) error {
	ending := render.Plain(b.words.Say(i18n.Archiving, i18n.Args{"Name": r.Name}))
	if err := b.Sender.Edit(ctx, t.To, t.Message, outbox.Message{To: t.To, Text: ending}); err != nil {
		b.Log.Debug("edit_failed", "error", err.Error())
	}
	if err := b.MoveTo(ctx, t.To, r); err != nil { // the receipt comes as news, to where the session is shown
		return err
	}
	if err := b.Sessions.Archive(ctx, r.ID, final, fmt.Sprintf("asked for by %d", t.From)); err != nil {
		return b.Explain(ctx, t.To, b.agentFailure(r, err))
	}
	return nil
}
