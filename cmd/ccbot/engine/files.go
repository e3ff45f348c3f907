package engine

import (
	"context"

	"github.com/google/uuid"

	"ccbot/port/news"
	"ccbot/port/refusal"
)

// agentFiles sends files of agents to the chat.
type agentFiles struct{ *Engine }

// SendFile sends a file that the agent may send, and returns when the person's chat has it.
func (e agentFiles) SendFile(ctx context.Context, session uuid.UUID, path, caption string) error {
	s, known := e.Views().Get(session)
	if !known {
		return &refusal.Error{Code: refusal.NotFound}
	}
	if err := e.Places.MaySend(session, path); err != nil {
		return err
	}
	return e.Places.Offers.Offer(ctx, session, func(id uuid.UUID) error {
		return e.Receipts.Chat.SessionNews(ctx, s, news.FileOffered{ID: id, Path: path, Caption: caption})
	})
}
