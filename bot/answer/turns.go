package answer

import (
	"time"

	"github.com/google/uuid"

	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/port/news"
	"ccbot/bot/port/talk"
	"ccbot/bot/port/views"
	"ccbot/internal/address"
)

// InFull reports whether all that a session says is shown where the session belongs: the session is
// in a topic, or is the current one, or is in a turn whose prompt came as an answer to one of the
// session's messages.
func (a *Answers) InFull(r views.Session) bool {
	book := a.Chat.Book
	if book.IsInFront(r) {
		return true
	}
	turn, ok := book.TurnOf(r.Conversation, book.Successor(r).ID)
	return ok && (!turn.Since.IsZero() || a.isBeingTyped(turn.Prompt))
}

// isBeingTyped reports whether an agent may get a prompt at any moment, or has just got it: the
// answer can be there before the proof.
func (a *Answers) isBeingTyped(key string) bool {
	e, err := a.Prompts.Load(key)
	return err == nil && e.State == inbox.Typing
}

// beginTurn notes when a prompt was typed: the first end of a turn after that ends the prompt's own
// turn.
func (a *Answers) beginTurn(n news.Note) {
	to, id := n.Session.Conversation, n.Session.ID
	turn, ok := a.Chat.Book.TurnOf(to, id)
	if !ok {
		return
	}
	if turn.Prompt == n.Prompt.Key {
		turn.Prompt = ""
	}
	if turn.Since = a.Chat.Now(); n.Prompt.Mark != nil {
		turn.Since = n.Prompt.Mark.At
	}
	a.setTurn(to, id, turn)
}

// endTurn ends what InFull says of a session's turn. An end from before the prompt was typed is
// that of another turn.
func (a *Answers) endTurn(r views.Session, end talk.Item) {
	id := a.Chat.Book.Successor(r).ID
	turn, ok := a.Chat.Book.TurnOf(r.Conversation, id)
	if !ok || turn.Since.IsZero() || !end.Time.After(turn.Since) {
		return
	}
	turn.Since = time.Time{}
	a.setTurn(r.Conversation, id, turn)
}

func (a *Answers) setTurn(to address.Conversation, id uuid.UUID, turn conversation.Turn) {
	if err := a.Chat.Book.SetTurn(to, turn); err != nil {
		a.Chat.Log.Warn("turn_not_noted", "session_id", id.String(), "error", err.Error())
	}
}
