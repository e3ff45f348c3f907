package chattest

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/port/talk"
)

// OnRequest and the other methods here call features of the bot.
func (w *World) OnRequest(ctx context.Context, q talk.Request) error {
	return w.Requests.OnRequest(ctx, q)
}

func (w *World) OnLeft(ctx context.Context, q talk.Request) { w.Requests.OnLeft(ctx, q) }

func (w *World) SendFile(ctx context.Context, id uuid.UUID, path, caption string) error {
	return w.Bot.Files.SendFile(ctx, id, path, caption)
}

func (w *World) IdleIn(at session.Conversation, id uuid.UUID) time.Duration {
	return w.Idle.After(w.IdleAfter, at, id)
}

// Silent requires that there is no message and no call.
func (w *World) Silent(t *testing.T) {
	t.Helper()
	require.Empty(t, w.Telegram.Done(), "strangers get silence")
	require.Empty(t, w.Lifecycle.Done())
}
