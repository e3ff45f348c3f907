package chat

import (
	"context"
	"errors"
	"log/slog"

	"github.com/google/uuid"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// Failure is what a person is told of an error; the log has the chain.
type Failure struct {
	Text     render.Text
	Buttons  [][]outbox.Button // what can be done
	Err      error
	Internal bool      // only the log can say more
	Session  uuid.UUID // whose failure it is
}

// Internal is the failure that a person cannot do anything about.
func (c *Chat) Internal(err error) Failure {
	return Failure{Text: render.Plain(c.Words.Say(i18n.InternalError)), Err: err, Internal: true}
}

// Explain tells a failure. The update is handled with that.
func (c *Chat) Explain(ctx context.Context, to outbox.Conversation, f Failure) error {
	level := slog.LevelInfo // a refusal that the person understands
	if f.Internal {
		level = slog.LevelError
	}
	c.Log.Log(ctx, level, "request_refused", "error", f.Err.Error())
	return c.For(f.Session).Post(ctx, to, f.Text, f.Buttons)
}

// IsRefused reports whether Telegram will never take a message. From a chat that takes nothing now
// the message is only kept away until somebody there writes again.
func IsRefused(err error) bool {
	refused := (*outbox.Refused)(nil)
	return errors.As(err, &refused) && !errors.Is(err, outbox.ErrBlocked)
}
