package prompt

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/port/files"
	"ccbot/bot/port/views"
	"ccbot/bot/quotation"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
)

// Attachment is the file of a message.
type Attachment struct {
	id     string // Telegram's
	name   string // as its sender calls it, else as we do
	ending string // of that name where it has none and the server knows none either
	size   int64  // in bytes, 0: not known
	spoken bool
}

// attached finds the file of a message. What has a name keeps it; the others are called by their
// kind and message, so that none is like an earlier one.
func attached(m *models.Message) (a Attachment, ok bool) {
	own := func(kind string) string { return fmt.Sprintf("%s-%d", kind, m.ID) }
	or := func(name, kind string) string {
		if strings.TrimSpace(name) == "" {
			return own(kind)
		}
		return name
	}
	switch {
	case len(m.Photo) > 0:
		p := slices.MaxFunc(m.Photo, func(a, b models.PhotoSize) int { return a.Width*a.Height - b.Width*b.Height })
		return Attachment{id: p.FileID, name: own("photo"), ending: ".jpg", size: int64(p.FileSize)}, true
	case m.Animation != nil: // it comes as a document, too
		return Attachment{id: m.Animation.FileID, name: or(m.Animation.FileName, "animation"), ending: ".mp4", size: m.Animation.FileSize}, true
	case m.Video != nil:
		return Attachment{id: m.Video.FileID, name: or(m.Video.FileName, "video"), ending: ".mp4", size: m.Video.FileSize}, true
	case m.VideoNote != nil:
		return Attachment{id: m.VideoNote.FileID, name: own("video-note"), ending: ".mp4", size: int64(m.VideoNote.FileSize)}, true
	case m.Audio != nil:
		return Attachment{id: m.Audio.FileID, name: or(m.Audio.FileName, "audio"), ending: ".mp3", size: m.Audio.FileSize}, true
	case m.Voice != nil:
		return Attachment{id: m.Voice.FileID, name: own("voice"), ending: ".ogg", size: m.Voice.FileSize, spoken: true}, true
	case m.Document != nil:
		return Attachment{id: m.Document.FileID, name: or(m.Document.FileName, "file"), size: m.Document.FileSize}, true
	}
	return Attachment{}, false
}

// called is the attachment's name with an ending.
func (a Attachment) called(ending string) string {
	if path.Ext(a.name) != "" {
		return a.name
	}
	if ending == "" {
		ending = a.ending
	}
	return a.name + ending
}

// shown is its name in a sentence.
func (a Attachment) shown() string {
	return chat.Tail(glyph.Name(path.Base(a.called(""))), maxShownName)
}

const maxShownName = 80 // letters

// Media takes a message that is no text and no part of an album. Its file goes into the directory
// of the session that it is for, and the prompt names it there.
func (p *Prompts) Media(ctx context.Context, in Message, m *models.Message) error {
	file, ok := attached(m)
	if !ok {
		return p.Chat.Fail(ctx, in.To, in.MessageID, render.Plain(p.words.Say(i18n.MediaUnknown)), nil)
	}
	r, ok, err := p.addressee(ctx, in)
	if err != nil || !ok {
		return err
	}
	in, text, err := p.Attachments.Receive(ctx, in, r, file, quotation.Text(m))
	if problem := (*FileProblem)(nil); errors.As(err, &problem) {
		return p.Chat.Fail(ctx, in.To, in.MessageID, render.Plain(problem.Text+"\n"+p.words.Say(i18n.NotDelivered)), nil)
	}
	if err != nil {
		return err
	}
	return p.Take(ctx, in, text)
}

// addressee is the session that a message goes to: one that can take it, now or when it is back.
// Where there is none that is told, before anything is fetched.
func (p *Prompts) addressee(ctx context.Context, in Message) (r views.Session, ok bool, err error) {
	switch r, ok, err = p.addressed(in); {
	case err == nil && !ok:
		err = p.notDelivered(ctx, in, p.nowhereText(in), nil)
	case err == nil && !takes(r):
		ok, err = false, p.agentGone(ctx, in, r)
	}
	return r, ok, err
}

// takes reports whether a session takes prompts, now or when it is back.
func takes(r views.Session) bool { return r.Live || r.Resumable }

// addressed is the session that a message goes to: the one that its files lie with, or that goes on
// with that one's conversation.
func (p *Prompts) addressed(in Message) (views.Session, bool, error) {
	if in.Session == uuid.Nil {
		return p.book.Target(in.Message)
	}
	r, ok := p.book.Records.Get(in.Session)
	return p.book.Successor(r), ok, nil
}

// withFiles is a prompt that names the files that came with it, one per line. The words are for the
// agent: they are the same in every language.
func withFiles(text string, names []string) string {
	var all []string
	if text != "" {
		all = []string{text}
	}
	for _, f := range names {
		if !path.IsAbs(f) {
			f = files.Folder + "/" + f
		}
		all = append(all, "Attached file: "+f)
	}
	return strings.Join(all, "\n")
}

// FilesFor are the files of a message as a session finds them: by their whole path where it is not
// in the directory that they came to, because its conversation has moved meanwhile.
func (in Message) FilesFor(r views.Session) []string {
	if in.Dir == r.Dir || in.Dir == "" {
		return in.Files
	}
	var all []string
	for _, f := range in.Files {
		all = append(all, path.Join(in.Dir, files.Folder, f))
	}
	return all
}

// Awaited are the names of files that a prompt has which is not typed yet, or not proven: they are
// not cleaned away.
func (p *Prompts) Awaited() (map[string]bool, error) {
	entries, err := p.Entries.List()
	if err != nil {
		return nil, err
	}
	names := make(map[string]bool)
	for _, e := range entries {
		for _, f := range e.Files {
			names[path.Base(f)] = true
		}
	}
	return names, nil
}
