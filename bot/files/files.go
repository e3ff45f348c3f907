package files

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	port "ccbot/bot/port/files"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/internal/glyph"
)

// ErrSlow ends an upload that takes too long.
var ErrSlow = errors.New("the upload takes too long")

// Sender returns when Telegram took a file or refused it.
type Sender interface {
	SendFile(ctx context.Context, f outbox.File) (messageID int, err error)
}

// Files sends the files of sessions.
type Files struct {
	Book   *conversation.Book
	Sender Sender
	Open   func(session uuid.UUID, path string) (port.File, error)
	// Heading is a session's name above what it shows where another session is the current one.
	Heading func(r views.Session) render.Text
}

func refuse(format string, args ...any) error {
	return &port.Refusal{Text: fmt.Sprintf(format, args...)}
}

// Send sends a file of a session's folder into its chat and returns when Telegram took the file.
// Errors: *port.Refusal, or what the outbox fails with.
func (s *Files) Send(ctx context.Context, id uuid.UUID, path, caption string) error {
	r, ok := s.Book.Records.Get(id)
	switch {
	case !ok || !r.Live:
		return refuse("the session is over")
	case !s.Book.MayShow(r.Conversation):
		return refuse("nobody is allowed any more in the chat that the session is shown in")
	case render.Plain(caption).Length() > outbox.MaxCaption:
		return refuse("the caption has more than %d characters", outbox.MaxCaption)
	}
	f, err := s.Open(id, path)
	if err != nil {
		return err
	}
	defer f.Body.Close()
	if f.Size > outbox.MaxFile {
		return refuse("it has %s, and Telegram takes %s", bytesText(f.Size), bytesText(outbox.MaxFile))
	}
	return s.upload(ctx, r, f, caption)
}

// uploadFor bounds a file's way into the chat: what comes after it waits.
const uploadFor = 10 * time.Minute

// upload sends the file that was checked: by its descriptor, not by its name.
func (s *Files) upload(ctx context.Context, r views.Session, f port.File, caption string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, uploadFor, ErrSlow)
	defer cancel()
	_, err := s.Sender.SendFile(ctx, outbox.File{To: r.Conversation, Name: shownName(f.Name),
		Caption: s.captionText(r, caption), Body: f.Body, Size: f.Size, Session: r.ID})
	refused := (*outbox.Refused)(nil)
	switch {
	case errors.As(err, &refused):
		return &port.Refusal{Text: "Telegram does not take it: " + refused.Err.Error(), Err: err}
	case errors.Is(err, ErrSlow):
		return &port.Refusal{Text: "Telegram did not take it in ten minutes, and I gave up", Err: err}
	}
	return err
}

// captionText is the caption, below the session's name where that name is needed and fits.
func (s *Files) captionText(r views.Session, caption string) render.Text {
	text := render.Plain(caption)
	if headed := render.Join(s.Heading(r), text); headed.Length() <= outbox.MaxCaption {
		return headed
	}
	return text
}

// shownName is a file's name as the chat shows it, with nothing in it hidden.
func shownName(name string) string {
	if render.Plain(name).Blank() {
		return "file"
	}
	return strings.TrimSpace(glyph.Name(name))
}

// bytesText is a size as people read it.
func bytesText(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}
