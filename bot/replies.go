package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/lifecycle"
)

// target is the session that a message goes to: the one whose message it
// answers, else the current one. There is none where that one is forgotten, or
// nobody knows which it is: the text was not meant for another.
func (b *Bot) target(in incoming) (session.Record, bool, error) {
	if r, answered, known := b.answered(in); answered {
		return r, known, nil
	}
	now, ok, err := b.current(in.to)
	if err != nil || !ok || b.unsure(in, now) {
		return session.Record{}, false, err
	}
	return now, true, nil
}

// unsure says whether a message answers one of the bot's of which nobody knows whose
// it is: it is older than the ring, or a crash lost its number. It may be of any
// session that is open, so it is sure only where the current one is open, and no
// other. What the bot says of no session at all is in the ring, too, and an answer
// to that means the current session as any text does.
func (b *Bot) unsure(in incoming, now session.Record) bool {
	if in.repliedTo == 0 || in.repliedOf == "" || !strings.EqualFold(in.repliedOf, b.Username) {
		return false
	}
	if b.Chats.KnowsMessage(in.to, in.repliedTo) {
		return false
	}
	others := func(r session.Record) bool { return r.ID != now.ID && live(r) }
	return !live(now) || slices.ContainsFunc(b.Records.List(), others)
}

// answered is the session whose message a person answers; known says whether there
// still is a record of it. Commands without a name mean it, too.
func (b *Bot) answered(in incoming) (r session.Record, answered, known bool) {
	if in.repliedTo == 0 {
		return session.Record{}, false, false
	}
	id, ok := b.Chats.SessionOf(in.to, in.repliedTo)
	if !ok {
		return session.Record{}, false, false
	}
	r, known = b.Records.Get(id)
	return b.successor(r), true, known
}

// findFor is find for a command that was sent as the answer to a session's message,
// too.
func (b *Bot) findFor(in incoming, arg string, fits func(session.Record) bool) (session.Record, bool, error) {
	if arg == "" {
		if r, answered, known := b.answered(in); answered {
			return r, known && fits(r), nil
		}
	}
	return b.find(in.to, arg, fits)
}

// nowhereText says why a text has no session that it could go to.
func (b *Bot) nowhereText(in incoming) string {
	if _, answered, _ := b.answered(in); answered {
		return b.words.Say(i18n.ReplyForgotten)
	}
	if now, ok, err := b.current(in.to); err == nil && ok && b.unsure(in, now) {
		return b.words.Say(i18n.ReplyUnknown)
	}
	return b.noSessionText()
}

// Sent hears which message the chat has, of a session or of none.
func (b *Bot) Sent(m outbox.Message, id int) {
	if err := b.Chats.noteSent(m.To, id, m.Session); err != nil {
		b.Log.Warn("message_not_noted", "chat_id", m.To.ChatID, "error", err.Error())
	}
}

// turn is one turn of a session that is shown in full although another session is
// the current one: its prompt came as an answer to one of its messages.
type turn struct {
	Session uuid.UUID `json:"session"`
	Since   time.Time `json:"since,omitzero"` // when a prompt was typed that the agent has; zero: it has none yet
	// Prompt is the key of one that the agent may not have yet. It is of a turn only
	// from when it is typed on: it may wait for long, or be dropped.
	Prompt string `json:"prompt,omitempty"`
}

// noteTarget keeps that a person's message is a session's prompt. What cannot be
// kept costs replies their way, never the prompt.
func (b *Bot) noteTarget(to session.Conversation, message int, key string, r session.Record) {
	if to.ThreadID != 0 || b.isCurrent(to, r) {
		key = ""
	}
	if err := b.Chats.NotePrompt(to, message, key, r.ID); err != nil {
		b.Log.Warn("message_not_noted", "chat_id", to.ChatID, "error", err.Error())
	}
}

// NotePrompt keeps that a person's message is a prompt of a session, and the key of
// one whose turn is shown in full.
func (c *Chats) NotePrompt(to session.Conversation, message int, key string, id uuid.UUID) error {
	return c.change(to, func(f *chat) {
		if message > 0 {
			f.Ring.note(message, id)
		}
		t, _ := turnIn(f.Turns, id) // one that goes on is shown to its end
		t.Session, t.Prompt = id, key
		if key == "" {
			t = turn{Session: id}
		}
		f.setTurn(t)
	})
}

func turnIn(all []turn, id uuid.UUID) (turn, bool) {
	i := slices.IndexFunc(all, func(t turn) bool { return t.Session == id })
	if i < 0 {
		return turn{}, false
	}
	return all[i], true
}

// setTurn replaces what is known of a session's turn; without a prompt there is
// none.
func (f *chat) setTurn(t turn) {
	f.Turns = slices.DeleteFunc(f.Turns, func(old turn) bool { return old.Session == t.Session })
	if !t.Since.IsZero() || t.Prompt != "" {
		f.Turns = append(f.Turns, t)
	}
}

// turnOf is the turn of a session that is shown in full.
func (c *Chats) turnOf(to session.Conversation, id uuid.UUID) (turn, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, err := c.readLocked(to)
	if err != nil {
		return turn{}, false
	}
	return turnIn(f.Turns, id)
}

// setTurn changes a turn that is shown in full.
func (c *Chats) setTurn(to session.Conversation, t turn) error {
	return c.change(to, func(f *chat) { f.setTurn(t) })
}

// shownInFull says whether all that a session says is shown where it belongs: it
// is in a topic, or the current session, or in a turn whose prompt came as an
// answer to one of its messages.
func (b *Bot) shownInFull(r session.Record) bool {
	if r.Conversation.ThreadID != 0 || b.isCurrent(r.Conversation, r) {
		return true
	}
	t, ok := b.Chats.turnOf(r.Conversation, b.successor(r).ID)
	return ok && (!t.Since.IsZero() || b.isBeingTyped(t.Prompt))
}

// isBeingTyped says whether an agent may have a prompt any moment, or has it since a
// moment: the answer can be there before the proof.
func (b *Bot) isBeingTyped(key string) bool {
	e, err := b.Entries.Load(key)
	return err == nil && e.State == inbox.Typing
}

// turnBegun notes from when on the end of a turn is that of a prompt's own.
func (b *Bot) turnBegun(n lifecycle.Note) {
	to, id := n.Session.Conversation, n.Session.ID
	t, ok := b.Chats.turnOf(to, id)
	if !ok {
		return
	}
	if t.Prompt == n.Prompt.Key {
		t.Prompt = ""
	}
	if t.Since = b.Now(); n.Prompt.Mark != nil {
		t.Since = n.Prompt.Mark.At
	}
	if err := b.Chats.setTurn(to, t); err != nil {
		b.Log.Warn("turn_not_noted", "session_id", id.String(), "error", err.Error())
	}
}

// turnOver ends what shownInFull said of a session's turn. The end of the turn
// before the prompt was typed is of another one.
func (b *Bot) turnOver(r session.Record, end transcript.Item) {
	id := b.successor(r).ID
	t, ok := b.Chats.turnOf(r.Conversation, id)
	if !ok || t.Since.IsZero() || !end.Time.After(t.Since) {
		return
	}
	t.Since = time.Time{}
	if err := b.Chats.setTurn(r.Conversation, t); err != nil {
		b.Log.Warn("turn_not_noted", "session_id", id.String(), "error", err.Error())
	}
}

// askResume says under a prompt that its session is over, and offers to bring it
// back with the prompt. Until a person has said so the prompt is in no queue. A
// crash between the question and its note asks once more.
func (b *Bot) askResume(ctx context.Context, e inbox.Entry, r session.Record) error {
	if err := b.Chats.NoteMessage(e.Conversation, e.MessageID, r.ID); err != nil { // so that what is said under it is the session's
		b.Log.Warn("message_not_noted", "chat_id", e.ChatID, "error", err.Error())
	}
	over := plain(b.words.Say(i18n.AlreadyEnded, i18n.Args{"Name": r.Name}) + "\n" + b.words.Say(i18n.NotDelivered))
	err := b.failed(ctx, e.Conversation, e.MessageID, over, rows(2,
		b.button(i18n.ButtonResumeAndSend, tapResumeAndSendVerb+":"+e.Key, outbox.Primary),
		b.button(i18n.ButtonDrop, tapOldVerb+":"+tapOldDrop+":"+e.Key, "")))
	if err != nil {
		return err
	}
	e.State, e.Note, e.Typing = inbox.Asked, "", nil
	return b.Entries.Save(e)
}

// tapResumeAndSendVerb is the verb of [Resume and send].
const tapResumeAndSendVerb = "rns"

// tapResumeAndSend brings a session back and has the prompt typed once it is ready.
// The prompt is in its queue first: whatever a resume asks before it succeeds, the
// prompt waits there.
func (b *Bot) tapResumeAndSend(ctx context.Context, t tapEvent) error {
	if len(t.args) != 1 {
		return b.stale(ctx, t)
	}
	e, err := b.Entries.Load(t.args[0])
	r, known := b.Records.Get(e.Session)
	r = b.successor(r)
	switch {
	case isGone(err), err == nil && (e.State != inbox.Asked || e.Conversation.ChatID != t.to.ChatID || !known):
		return b.stale(ctx, t)
	case err == nil:
		err = b.keep(ctx, e, r)
	}
	switch {
	case isGone(err):
		return b.stale(ctx, t)
	case err != nil:
		return err
	}
	b.Sender.Answer(ctx, t.to, t.query, "", false)
	said := b.words.Say(i18n.ResumeAndSend, i18n.Args{"Name": r.Name})
	if err := b.replace(ctx, t, fmt.Sprintf("%s\n\n%s", t.text, said)); err != nil {
		return err
	}
	if r.State.Live() {
		return nil
	}
	_, err = b.bringBack(ctx, comeback{wish: wish{session: r.ID}, r: r, to: e.Conversation, from: t.from, undo: b.otherIsOpen(e.Conversation, r)})
	return err
}

// keep has a prompt held for its session, which may be over.
func (b *Bot) keep(ctx context.Context, e inbox.Entry, r session.Record) error {
	if err := b.restate(e.Key, inbox.Asked, inbox.Held, r.ID); err != nil {
		return err
	}
	if err := b.Sessions.Keep(ctx, r.ID, e.Key); err != nil {
		return b.unqueued.unless(e.Key, r.ID, err, b.restate(e.Key, inbox.Held, inbox.Asked, r.ID))
	}
	b.noteTarget(e.Conversation, e.MessageID, e.Key, r)
	b.mark(ctx, e.Conversation, e.MessageID, reactionStored)
	return nil
}

// otherIsOpen says whether another session is the current one, and open: then a
// prompt for this one does not take its place.
func (b *Bot) otherIsOpen(to session.Conversation, r session.Record) bool {
	now, ok, err := b.current(to)
	return err == nil && ok && now.ID != r.ID && now.State.Live()
}
