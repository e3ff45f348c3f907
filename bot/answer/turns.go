package answer

import (
	"context"

	"ccbot/bot/conversation"
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
	turn, ok := book.TurnOf(r.Conversation, book.Successor(r).ID)
	return book.IsInFront(r) || ok && !turn.Since.IsZero()
}

// beginTurn notes when such a prompt was typed: the first end of a turn after that ends the prompt's
// own turn. The answer can be there before the proof that the agent has the prompt.
func (a *Answers) beginTurn(_ context.Context, n news.Note) error {
	turn, ok := a.Chat.Book.TurnOf(n.Session.Conversation, n.Session.ID)
	if !ok || turn.Prompt != n.Prompt.Key || n.Kind != news.Typed && n.Kind != news.Delivered {
		return nil
	}
	turn.Prompt, turn.Since = "", a.Chat.Now()
	if n.Prompt.Mark != nil {
		turn.Since = n.Prompt.Mark.At
	}
	a.setTurn(n.Session.Conversation, turn)
	return nil
}

// endTurn ends what InFull says of a session's turn. An end from before the prompt was typed is
// that of another turn.
func (a *Answers) endTurn(r views.Session, end talk.Item) {
	turn, ok := a.Chat.Book.TurnOf(r.Conversation, a.Chat.Book.Successor(r).ID)
	if ok && !turn.Since.IsZero() && end.Time.After(turn.Since) {
		a.setTurn(r.Conversation, conversation.Turn{Session: turn.Session, Prompt: turn.Prompt})
	}
}

func (a *Answers) setTurn(to address.Conversation, turn conversation.Turn) {
	if err := a.Chat.Book.SetTurn(to, turn); err != nil {
		a.Chat.Log.Warn("turn_not_noted", "session_id", turn.Session.String(), "error", err.Error())
	}
}
