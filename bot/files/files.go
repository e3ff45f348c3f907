package files

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	port "ccbot/bot/port/files"
	"ccbot/bot/port/refusal"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/internal/glyph"
)

// Files sends the files of sessions.
type Files struct {
	Book *conversation.Book
	Open func(ctx context.Context, session uuid.UUID, path string) (port.File, error)
	// Heading is a session's name above what it shows where another session is the current one.
	Heading func(r views.Session) render.Text
	// Upload returns when Telegram took a file or refused it.
	Upload func(ctx context.Context, f outbox.File) (messageID int, err error)
}

// uploadFor bounds a file's way into the chat: what comes after it waits.
const uploadFor = 10 * time.Minute

// Send sends a file of a session's folder into its chat and returns when Telegram took the file.
// Errors: *refusal.Error, or what the outbox fails with.
func (s *Files) Send(ctx context.Context, id uuid.UUID, path, caption string) error {
	r, ok := s.Book.Records.Get(id)
	text := render.Plain(caption)
	switch {
	case !ok || !r.Live:
		return &refusal.Error{Code: refusal.WrongState, State: r.State}
	case !s.Book.MayShow(r.Conversation):
		return &refusal.Error{Code: refusal.NotShown}
	case text.Length() > outbox.MaxCaption:
		return &refusal.Error{Code: refusal.CaptionTooLong}
	}
	f, err := s.Open(ctx, id, path)
	if err != nil {
		return err
	}
	defer f.Body.Close()
	if headed := render.Join(s.Heading(r), text); headed.Length() <= outbox.MaxCaption {
		text = headed
	}
	return s.Put(ctx, f, outbox.File{To: r.Conversation, Session: r.ID, Caption: text})
}

// Put sends an open file, to where as says, and returns when Telegram took it. Its errors are those of Send.
func (s *Files) Put(ctx context.Context, f port.File, as outbox.File) error {
	if f.Size > outbox.MaxFile {
		return &refusal.Error{Code: refusal.FileTooBig}
	}
	ctx, cancel := context.WithTimeout(ctx, uploadFor)
	defer cancel()
	as.Body, as.Size, as.Name = f.Body, f.Size, cmp.Or(strings.TrimSpace(glyph.Name(f.Name)), "file")
	_, err := s.Upload(ctx, as)
	refused := (*outbox.Refused)(nil)
	switch {
	case errors.As(err, &refused):
		return &refusal.Error{Code: refusal.NotTaken, Reason: refused.Err.Error(), Err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &refusal.Error{Code: refusal.TookTooLong, Err: err}
	}
	return err
}
