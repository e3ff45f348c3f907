package bot

import (
	"context"
	"fmt"

	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// nowhereText says why a text has no session that it could go to.
func (b *Bot) nowhereText(in incoming) string {
	if _, answered, _ := b.Answered(in.Message); answered {
		return b.words.Say(i18n.ReplyForgotten)
	}
	if now, ok, err := b.CurrentSession(in.To); err == nil && ok && b.Unsure(in.Message, now) {
		return b.words.Say(i18n.ReplyUnknown)
	}
	return b.NoSessionText()
}

// Sent hears which message the chat has, of a session or of none.
func (b *Bot) Sent(m outbox.Message, id int) {
	if err := b.Chats.NoteSent(m.To, id, m.Session); err != nil {
		b.Log.Warn("message_not_noted", "chat_id", m.To.ChatID, "error", err.Error())
	}
}

// noteTarget keeps that a person's message is a session's prompt. What cannot be
// kept costs replies their way, never the prompt.
func (b *Bot) noteTarget(to session.Conversation, message int, key string, r session.Record) {
	if to.ThreadID != 0 || b.IsCurrent(to, r) {
		key = ""
	}
	if err := b.Chats.NotePrompt(to, message, key, r.ID); err != nil {
		b.Log.Warn("message_not_noted", "chat_id", to.ChatID, "error", err.Error())
	}
}

// askResume says under a prompt that its session is over, and offers to bring it
// back with the prompt. Until a person has said so the prompt is in no queue. A
// crash between the question and its note asks once more.
func (b *Bot) askResume(ctx context.Context, e inbox.Entry, r session.Record) error {
	if err := b.Chats.NoteMessage(e.Conversation, e.MessageID, r.ID); err != nil { // so that what is said under it is the session's
		b.Log.Warn("message_not_noted", "chat_id", e.ChatID, "error", err.Error())
	}
	over := render.Plain(b.words.Say(i18n.AlreadyEnded, i18n.Args{"Name": r.Name}) + "\n" + b.words.Say(i18n.NotDelivered))
	err := b.Fail(ctx, e.Conversation, e.MessageID, over, chat.Rows(2,
		b.Button(i18n.ButtonResumeAndSend, tapResumeAndSendVerb+":"+e.Key, outbox.Primary),
		b.Button(i18n.ButtonDrop, tapOldVerb+":"+tapOldDrop+":"+e.Key, "")))
	if err != nil {
		return err
	}
	e.State, e.Aged, e.Told, e.Typing = inbox.Asked, false, nil, nil
	return b.Entries.Save(e)
}

// tapResumeAndSendVerb is the verb of [Resume and send].
const tapResumeAndSendVerb = "rns"

// tapResumeAndSend brings a session back and has the prompt typed once it is ready.
// The prompt is in its queue first: whatever a resume asks before it succeeds, the
// prompt waits there.
func (b *Bot) tapResumeAndSend(_ context.Context, t chat.Tap) (chat.Answer, error) {
	if len(t.Args) != 1 {
		return b.Stale(t)
	}
	e, err := b.Entries.Load(t.Args[0])
	r, known := b.Records.Get(e.Session)
	r = b.Successor(r)
	switch {
	case isGone(err), err == nil && (e.State != inbox.Asked || e.Conversation.ChatID != t.To.ChatID || !known):
		return b.Stale(t)
	case err != nil:
		return chat.Answer{}, err
	}
	return chat.Do(func(ctx context.Context) error { return b.resumeAndSend(ctx, t, e, r) })
}

func (b *Bot) resumeAndSend(ctx context.Context, t chat.Tap, e inbox.Entry, r session.Record) error {
	switch err := b.keep(ctx, e, r); {
	case isGone(err):
		return b.Overtaken(ctx, t)
	case err != nil:
		return err
	}
	said := b.words.Say(i18n.ResumeAndSend, i18n.Args{"Name": r.Name})
	if err := b.Replace(ctx, t, fmt.Sprintf("%s\n\n%s", t.Text, said)); err != nil {
		return err
	}
	if r.State.Live() {
		return nil
	}
	_, err := b.resumer.Resume(ctx, chat.Resume{Session: r, To: e.Conversation, From: t.From, Undo: b.otherIsOpen(e.Conversation, r)})
	return err
}

// keep has a prompt held for its session, which may be over.
func (b *Bot) keep(ctx context.Context, e inbox.Entry, r session.Record) error {
	if err := b.Sessions.Keep(ctx, r.ID, e.Key); err != nil {
		return err
	}
	b.noteTarget(e.Conversation, e.MessageID, e.Key, r)
	b.Mark(ctx, e.Conversation, e.MessageID, chat.ReactionStored)
	return nil
}

// otherIsOpen says whether another session is the current one, and open: then a
// prompt for this one does not take its place.
func (b *Bot) otherIsOpen(to session.Conversation, r session.Record) bool {
	now, ok, err := b.CurrentSession(to)
	return err == nil && ok && now.ID != r.ID && now.State.Live()
}
