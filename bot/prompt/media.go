package prompt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-telegram/bot/models"

	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/port/files"
	"ccbot/bot/port/views"
	"ccbot/bot/quotation"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/pause"
)

// attachment is the file of a message.
type attachment struct {
	id     string // Telegram's
	name   string // as its sender calls it, else as we do
	ending string // of that name where it has none and the server knows none either
	size   int64  // in bytes, 0: not known
	spoken bool
}

// attached finds the file of a message; there is none without an id. A file without a name is called
// by its kind and message, so that none is like an earlier one.
func attached(m *models.Message) (a attachment) {
	kind := ""
	switch {
	case len(m.Photo) > 0:
		p := slices.MaxFunc(m.Photo, func(a, b models.PhotoSize) int {
			return a.Width*a.Height - b.Width*b.Height
		})
		kind, a = "photo", attachment{p.FileID, "", ".jpg", int64(p.FileSize), false}
	case m.Animation != nil: // it comes as a document, too
		f := m.Animation
		kind, a = "animation", attachment{f.FileID, f.FileName, ".mp4", f.FileSize, false}
	case m.Video != nil:
		f := m.Video
		kind, a = "video", attachment{f.FileID, f.FileName, ".mp4", f.FileSize, false}
	case m.VideoNote != nil:
		f := m.VideoNote
		kind, a = "video-note", attachment{f.FileID, "", ".mp4", int64(f.FileSize), false}
	case m.Audio != nil:
		f := m.Audio
		kind, a = "audio", attachment{f.FileID, f.FileName, ".mp3", f.FileSize, false}
	case m.Voice != nil:
		kind, a = "voice", attachment{m.Voice.FileID, "", ".ogg", m.Voice.FileSize, true}
	case m.Document != nil:
		f := m.Document
		kind, a = "file", attachment{f.FileID, f.FileName, "", f.FileSize, false}
	}
	if strings.TrimSpace(a.name) == "" {
		a.name = fmt.Sprintf("%s-%d", kind, m.ID)
	}
	return a
}

// called is the attachment's name with an ending.
func (a attachment) called(ending string) string {
	if path.Ext(a.name) != "" {
		return a.name
	}
	return a.name + cmp.Or(ending, a.ending)
}

// shown is its name in a sentence.
func (a attachment) shown() string {
	return chat.Tail(glyph.Name(path.Base(a.called(""))), maxShownName)
}

const maxShownName = 80 // letters

// Media takes a message that is no text and no part of an album. Its file goes into the directory
// of the session that it is for, and the prompt names it there.
func (p *Prompts) Media(ctx context.Context, in chat.Incoming, m *models.Message) error {
	r, ok, err := p.target(ctx, in)
	if err != nil || !ok {
		return err
	}
	file, said, err := p.receive(ctx, in, r, m)
	switch problem, is := errors.AsType[*FileError](err); {
	case is && problem.err == nil:
		return p.notDelivered(ctx, in, problem.Text, nil)
	case err != nil:
		return err
	}
	return p.take(ctx, in, r, lines(quotation.Text(m), said), []string{file})
}

// Album makes one prompt of the files and captions of an album. all are its messages in order, of
// which in is the first. A file that cannot be had is named, and the album goes without it.
func (p *Prompts) Album(ctx context.Context, in chat.Incoming, all []*models.Update) error {
	r, ok, err := p.target(ctx, in)
	if err != nil || !ok {
		return err
	}
	var names, captions, problems []string
	for _, u := range all {
		part := in
		part.Key, part.Sent = inbox.UpdateKey(u.ID), time.Unix(int64(u.Message.Date), 0)
		file, err := p.receivePart(ctx, part, r, u.Message)
		switch problem, is := errors.AsType[*FileError](err); {
		case err == nil:
			names = append(names, file)
		case ctx.Err() != nil || !is:
			return err
		case !slices.Contains(problems, problem.Text):
			problems = append(problems, problem.Text)
		}
		captions = append(captions, quotation.Text(u.Message))
		_, message := p.book.Aliases.In(u.Message.Chat.ID, u.Message.ID)
		if err := p.book.NoteMessage(in.To, message, r.ID); err != nil {
			p.Chat.Log.Warn("message_not_noted", "chat_id", in.To.ChatID, "error", err.Error())
		}
	}
	if len(names) == 0 {
		return p.notDelivered(ctx, in, lines(problems...), nil)
	}
	if len(problems) > 0 {
		problems = append(problems, p.words.Say(i18n.AlbumRest))
	}
	if e, err := p.Entries.Load(in.Key); err == nil && e.Late {
		problems = append(problems, p.words.Say(i18n.AlbumLate))
	}
	err = p.take(ctx, in, r, lines(captions...), names)
	if err != nil || len(problems) == 0 {
		return err
	}
	return p.Chat.Warn(ctx, in.To, in.MessageID, render.Plain(lines(problems...)), nil)
}

// How often a file of an album is fetched before the album goes without it, and the pause between.
const (
	fetchTries = 3
	fetchPause = time.Second
)

// receivePart is receive for a part of an album: a download that fails is tried again.
func (p *Prompts) receivePart(ctx context.Context, in chat.Incoming, r views.Session,
	m *models.Message) (name string, err error) {
	for try := 1; ; try++ {
		name, _, err = p.receive(ctx, in, r, m)
		problem, is := errors.AsType[*FileError](err)
		if !is || problem.err == nil || try == fetchTries || pause.For(ctx, fetchPause) != nil {
			return name, err
		}
		p.Chat.Log.Warn("file_not_fetched", "error", err.Error())
	}
}

// withFiles is a prompt that names the files that came with it, one per line. The words are for the
// agent: they are the same in every language.
func withFiles(text string, names []string) string {
	all := []string{text}
	for _, name := range names {
		all = append(all, "Attached file: "+files.Folder+"/"+name)
	}
	return lines(all...)
}

// lines puts texts under each other. An empty text leaves no gap.
func lines(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(text string) bool { return text == "" }), "\n")
}
