package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/outbox"
	"ccbot/bot/port/files"
	"ccbot/bot/render"
	"ccbot/internal/glyph"
	"ccbot/internal/session"
)

// errSlow ends an upload that takes too long.
var errSlow = errors.New("the upload takes too long")

func refuseFile(format string, args ...any) error {
	return &files.Refusal{Text: fmt.Sprintf(format, args...)}
}

// SendFile sends a file of a session's folder into its chat and returns when
// Telegram took it. Errors: *files.Refusal, or what the outbox fails with.
func (b *Bot) SendFile(ctx context.Context, id uuid.UUID, path, caption string) error {
	r, ok := b.Records.Get(id)
	switch {
	case !ok || !r.State.Live():
		return refuseFile("the session is over")
	case !b.MayShow(r.Conversation):
		return refuseFile("nobody is allowed any more in the chat that the session is shown in")
	case render.Plain(caption).Length() > outbox.MaxCaption:
		return refuseFile("the caption has more than %d characters", outbox.MaxCaption)
	}
	f, err := b.Files.Open(id, path)
	if err != nil {
		return err
	}
	defer f.Body.Close()
	if f.Size > outbox.MaxFile {
		return refuseFile("it has %s, and Telegram takes %s", bytesText(f.Size), bytesText(outbox.MaxFile))
	}
	return b.upload(ctx, r, f, caption)
}

// uploadFor bounds a file's way into the chat: what comes after it waits.
const uploadFor = 10 * time.Minute

// upload sends the file that was checked: by its descriptor, not by its name.
func (b *Bot) upload(ctx context.Context, r session.Record, f files.File, caption string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, uploadFor, errSlow)
	defer cancel()
	_, err := b.Sender.SendFile(ctx, outbox.File{To: r.Conversation, Name: shownFileName(f.Name), Caption: b.captionText(r, caption),
		Body: f.Body, Size: f.Size, Session: r.ID})
	refused := (*outbox.Refused)(nil)
	switch {
	case errors.As(err, &refused):
		return &files.Refusal{Text: "Telegram does not take it: " + refused.Err.Error(), Err: err}
	case errors.Is(err, errSlow):
		return &files.Refusal{Text: "Telegram did not take it in ten minutes, and I gave up", Err: err}
	}
	return err
}

// captionText is the caption, below the session's name where it is not plain
// whose file it is.
func (b *Bot) captionText(r session.Record, caption string) render.Text {
	text := render.Plain(caption)
	if headed := render.Join(b.answers.Heading(r), text); headed.Length() <= outbox.MaxCaption {
		return headed
	}
	return text
}

// shownFileName is a file's name as the chat shows it, with nothing in it hidden.
func shownFileName(name string) string {
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
