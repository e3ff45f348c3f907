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
	"ccbot/bot/quotation"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
)

// attachment is the file of a message.
type attachment struct {
	id   string // Telegram's
	name string // as its sender calls it, else as we do
	kind string // with the ending of a name that has none where the server knows none either
}

// attached finds the file of a message; there is none without an id. A file without a name is called
// by its kind and message, so that none is like an earlier one.
func attached(m *models.Message) (a attachment) {
	switch {
	case len(m.Photo) > 0:
		p := slices.MaxFunc(m.Photo, func(a, b models.PhotoSize) int { return a.Width - b.Width })
		a = attachment{p.FileID, "", "photo.jpg"}
	case m.Animation != nil: // it comes as a document, too
		a = attachment{m.Animation.FileID, m.Animation.FileName, "animation.mp4"}
	case m.Video != nil:
		a = attachment{m.Video.FileID, m.Video.FileName, "video.mp4"}
	case m.VideoNote != nil:
		a = attachment{m.VideoNote.FileID, "", "video-note.mp4"}
	case m.Audio != nil:
		a = attachment{m.Audio.FileID, m.Audio.FileName, "audio.mp3"}
	case m.Voice != nil:
		a = attachment{m.Voice.FileID, "", "voice.ogg"}
	case m.Document != nil:
		a = attachment{m.Document.FileID, m.Document.FileName, "file"}
	}
	if strings.TrimSpace(a.name) == "" {
		a.name = fmt.Sprintf("%s-%d", strings.TrimSuffix(a.kind, path.Ext(a.kind)), m.ID)
	}
	return a
}

// called is the attachment's name with an ending.
func (a attachment) called(ending string) string {
	if path.Ext(a.name) != "" {
		return a.name
	}
	return a.name + cmp.Or(ending, path.Ext(a.kind))
}

// shown is its name in a sentence.
func (a attachment) shown() string {
	return chat.Tail(glyph.Name(path.Base(a.called(""))), 80)
}

// Files takes a message that is no text, or the messages of an album, of which in is the first. The
// files go into the directory of the session that they are for, and one prompt names them there. A
// file that cannot be had is told, and the prompt goes without it.
func (p *Prompts) Files(ctx context.Context, in chat.Incoming, all []*models.Update) error {
	r, ok, err := p.target(ctx, in)
	if err != nil || !ok {
		return err
	}
	var names, texts, problems []string
	for _, u := range all {
		part := in
		part.Key, part.Sent = inbox.UpdateKey(u.ID), time.Unix(int64(u.Message.Date), 0)
		name, said, err := p.receive(ctx, part, r, u.Message)
		switch problem, is := errors.AsType[*fileError](err); {
		case err == nil:
			names = append(names, name)
		case ctx.Err() != nil || !is:
			return err
		case !slices.Contains(problems, problem.text):
			problems = append(problems, problem.text)
		}
		texts = append(texts, quotation.Text(u.Message), said)
	}
	if len(names) == 0 {
		return p.notDelivered(ctx, in, lines(problems...), nil)
	}
	for _, u := range all[1:] { // the prompt notes the first
		_, message := p.book.Aliases.In(u.Message.Chat.ID, u.Message.ID)
		if err := p.book.NoteMessage(in.To, message, r.ID); err != nil {
			p.Chat.Log.Warn("message_not_noted", "chat_id", in.To.ChatID, "error", err.Error())
		}
	}
	if len(problems) > 0 {
		problems = append(problems, p.words.Say(i18n.AlbumRest))
	}
	if e, err := p.Entries.Load(in.Key); err == nil && e.Late {
		problems = append(problems, p.words.Say(i18n.AlbumLate))
	}
	err = p.take(ctx, in, r, lines(texts...), names)
	if err != nil || len(problems) == 0 {
		return err
	}
	return p.Chat.Warn(ctx, in.To, in.MessageID, render.Plain(lines(problems...)), nil)
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
