package bot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/internal/glyph"
	"ccbot/internal/session"
)

// FileRefusal says why a file is not sent. Its text is for the program that
// asked, which is an agent's.
type FileRefusal struct {
	Text string
	Err  error // the reason, if it is not in the text
}

func (e *FileRefusal) Error() string { return e.Text }

func (e *FileRefusal) Unwrap() error { return e.Err }

// errSlow ends an upload that takes too long.
var errSlow = errors.New("the upload takes too long")

func refuseFile(format string, args ...any) error {
	return &FileRefusal{Text: fmt.Sprintf(format, args...)}
}

// SendFile sends a file of a session's folder into its chat and returns when
// Telegram took it. Errors: *FileRefusal, or what the outbox fails with.
func (b *Bot) SendFile(ctx context.Context, id uuid.UUID, path, caption string) error {
	r, ok := b.Records.Get(id)
	switch {
	case !ok || !r.State.Live():
		return refuseFile("the session is over")
	case !b.mayShow(r.Conversation):
		return refuseFile("nobody is allowed any more in the chat that the session is shown in")
	case plain(caption).Length() > outbox.MaxCaption:
		return refuseFile("the caption has more than %d characters", outbox.MaxCaption)
	}
	f, err := b.openFile(path, r.Dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return b.upload(ctx, r, f, caption)
}

// uploadFor bounds a file's way into the chat: what comes after it waits.
const uploadFor = 10 * time.Minute

// upload sends the file that was checked: by its descriptor, not by its name.
func (b *Bot) upload(ctx context.Context, r session.Record, f foundFile, caption string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, uploadFor, errSlow)
	defer cancel()
	_, err := b.Sender.SendFile(ctx, outbox.File{To: r.Conversation, Name: shownFileName(f.path), Caption: b.captionText(r, caption),
		Body: f.File, Size: f.info.Size(), Session: r.ID})
	refused := (*outbox.Refused)(nil)
	switch {
	case errors.As(err, &refused):
		return &FileRefusal{Text: "Telegram does not take it: " + refused.Err.Error(), Err: err}
	case errors.Is(err, errSlow):
		return &FileRefusal{Text: "Telegram did not take it in ten minutes, and I gave up", Err: err}
	}
	return err
}

// captionText is the caption, below the session's name where it is not plain
// whose file it is.
func (b *Bot) captionText(r session.Record, caption string) render.Text {
	text := plain(caption)
	if headed := render.Join(b.answers.heading(r), text); headed.Length() <= outbox.MaxCaption {
		return headed
	}
	return text
}

// shownFileName is the name that the chat shows: the last part of the path, with
// nothing in it hidden.
func shownFileName(path string) string {
	name := filepath.Base(path)
	if plain(name).Blank() {
		return "file"
	}
	return strings.TrimSpace(glyph.Name(name))
}

// fileReason is what the system says of a file that cannot be had.
func fileReason(err error) error {
	text := reason(err)
	if errors.Is(err, fs.ErrNotExist) {
		text = "there is no such file"
	}
	return &FileRefusal{Text: text, Err: err}
}
