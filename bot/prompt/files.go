package prompt

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/port/files"
	"ccbot/bot/port/prompts"
	"ccbot/bot/port/refusal"
	"ccbot/bot/port/views"
	"ccbot/bot/quotation"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
)

// attachment is the file of a message.
type attachment struct {
	id   string // Telegram's
	name string // as its sender calls it, else as we do
	kind string // with the ending of a name that has none where the server knows none either
}

// attached finds the file of a message; there is none without an id. A file without a name is
// called by its kind and message, so that none is like an earlier one.
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

// Files takes a message that is no text, or the messages of an album, of which in is the first. The
// files go into the directory of the session that they are for, and one prompt names them there. A
// file that cannot be had is told, and the prompt goes without it.
func (p *Prompts) Files(ctx context.Context, in chat.Incoming, all []*models.Update) error {
	r, ok, err := p.target(ctx, in)
	if err != nil || !ok {
		return err
	}
	if r.ID == uuid.Nil && attached(all[0].Message).id != "" { // its folder gets the files
		var names, texts []string
		for _, u := range all {
			names = append(names, attached(u.Message).called(""))
			texts = append(texts, quotation.Text(u.Message))
		}
		return p.takeFor(ctx, in, r, fetched{text: lines(texts...), names: names})
	}
	got, err := p.fetch(ctx, in, r, all)
	if none, is := errors.AsType[fileError](err); is && ctx.Err() == nil {
		return p.notDelivered(ctx, in, render.Plain(none.Error()), nil)
	}
	if err != nil {
		return err
	}
	if e, err := p.Entries.Load(in.Key); err == nil && e.Late {
		got.problems = append(got.problems, p.Chat.In(in.To).Say(i18n.AlbumLate))
	}
	err = p.takeFor(ctx, in, r, got)
	if err != nil || len(got.problems) == 0 {
		return err
	}
	return p.Chat.Warn(ctx, in.To, in.MessageID, render.Plain(lines(got.problems...)), nil)
}

// fetched is what became of the files of a message, or of an album.
type fetched struct {
	names    []string // of the files that are in the session's folder
	text     string   // the captions, and what is said in recordings
	spoken   string   // what is said in recordings, where a person is to see that before it is typed
	problems []string // sentences about the others
}

// fetch brings the files of a message to the folder of a session. A fileError says why none could be had.
func (p *Prompts) fetch(ctx context.Context, in chat.Incoming, r views.Session, all []*models.Update) (
	got fetched, err error) {
	var texts, spoken []string
	for i, u := range all {
		part := in
		if part.Sent = time.Unix(int64(u.Message.Date), 0); i > 0 {
			part.Key = inbox.UpdateKey(u.ID)
		}
		name, said, err := p.Attachments.receive(ctx, part, r, u.Message)
		switch problem, is := errors.AsType[fileError](err); {
		case err == nil:
			got.names = append(got.names, name)
		case ctx.Err() != nil || !is:
			return got, err
		case !slices.Contains(got.problems, string(problem)):
			got.problems = append(got.problems, string(problem))
		}
		if texts = append(texts, quotation.Text(u.Message)); said != "" {
			texts, spoken = append(texts, quotation.Of("Transcript of a voice message", said)), append(spoken, said)
		}
	}
	if p.Attachments.Confirm {
		got.spoken = lines(spoken...)
	}
	if got.text = lines(texts...); len(got.names) == 0 {
		return got, fileError(lines(got.problems...))
	}
	if len(got.problems) > 0 {
		got.problems = append(got.problems, p.Chat.In(in.To).Say(i18n.AlbumRest))
	}
	for _, u := range all[1:] { // the prompt notes the first
		_, message := p.book.Aliases.In(u.Message.Chat.ID, u.Message.ID)
		if err := p.book.NoteMessage(in.To, message, r.ID); err != nil {
			p.Chat.Log.Warn("message_not_noted", logkey.ChatID, in.To.ChatID, logkey.Error, err.Error())
		}
	}
	return got, nil
}

// bringFiles brings the files of a prompt to the folder of the session that a person has chosen for
// the prompt. A fileError says why none could be had.
func (p *Prompts) bringFiles(ctx context.Context, e *inbox.Entry, r views.Session) error {
	if len(e.Files) == 0 {
		return nil
	}
	var all []*models.Update
	for _, raw := range append([]json.RawMessage{e.Update}, e.Rest...) {
		u := new(models.Update)
		if err := json.Unmarshal(raw, u); err != nil {
			return fmt.Errorf("files of prompt %s: %w", e.Key, err)
		}
		if u.Message == nil {
			return fmt.Errorf("files of prompt %s: they came with no message", e.Key)
		}
		all = append(all, u)
	}
	in := chat.Incoming{Message: conversation.Message{To: e.Conversation}, Key: e.Key, MessageID: e.MessageID}
	got, err := p.fetch(ctx, in, r, all)
	if err != nil {
		return err
	}
	typed, class, _ := prompts.Normalise(withFiles(got.text, got.names))
	err = p.Changes.Change(e.Key, func(now *inbox.Entry) error {
		if now.State != e.State { // a person has decided otherwise meanwhile
			return inbox.ErrNoEntry
		}
		now.Text, now.Class, now.Files, now.Spoken = typed, string(class), got.names, got.spoken
		*e = *now
		return nil
	})
	if err != nil || len(got.problems) == 0 {
		return err
	}
	return p.Chat.Warn(ctx, e.Conversation, e.MessageID, render.Plain(lines(got.problems...)), nil)
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

// Attachments bring the files of messages to the agents' machine.
type Attachments struct {
	Chat       *chat.Chat
	Files      files.Received
	Downloader Downloader
	Voice      Transcriber // nil: recordings are only files
	Confirm    bool        // what Voice has written down is typed when a person has seen it
}

// Downloader fetches files that people send from the Bot API server.
type Downloader interface {
	// Open begins to fetch a file, whose name on the server has the given ending, such as ".jpg".
	// The error of Open, or of reading, is ErrFileTooBig, which is for good, or one that may pass.
	Open(ctx context.Context, fileID string) (body io.ReadCloser, ending string, err error)
}

// ErrFileTooBig says that the Bot API server does not give a file, for its size.
var ErrFileTooBig = errors.New("the file is too big for the Bot API server")

// Transcriber writes down what is said in a recording; name is that of its file.
type Transcriber interface {
	Text(ctx context.Context, name string, recording []byte) (string, error)
}

// fileError is why a file is not passed on: a sentence for who sent it.
type fileError string

func (e fileError) Error() string { return string(e) }

// MaxRecording is the longest recording that is written down, in bytes: many hours. A longer one is
// only a file.
const MaxRecording = 20 << 20

// receive brings a message's file to a session's folder, and gives what is said in a recording. What
// fails is tried again, three times in all, unless that is for good. A fileError says why there is no file.
func (a *Attachments) receive(ctx context.Context, in chat.Incoming, r views.Session, m *models.Message) (name, said string, err error) {
	file, p := attached(m), a.Chat.In(in.To)
	if file.id == "" {
		return "", "", fileError(p.Say(i18n.MediaUnknown))
	}
	a.Chat.Sender.Typing(ctx, in.To)
	spoken := a.Voice != nil && m.Voice != nil && m.Voice.FileSize <= MaxRecording
	shown := i18n.Args{"Name": chat.Tail(glyph.Name(path.Base(file.called(""))), 80)}
	for try := 1; ; try++ {
		name, said, err = a.bring(ctx, in, r, file, spoken)
		switch {
		case err == nil:
			return name, said, nil
		case errors.Is(err, ErrFileTooBig):
			return "", "", fileError(p.Say(i18n.FileTooBig, shown))
		case errors.As(err, new(*refusal.Error)):
			a.Chat.Log.Error("file_not_kept", logkey.SessionID, r.ID.String(), logkey.Error, err.Error())
			return "", "", fileError(p.Failure(r, err).Text.Text)
		}
		a.Chat.Log.Warn("file_not_fetched", logkey.Error, err.Error())
		if try == 3 || pause.For(ctx, time.Second) != nil {
			return "", "", fileError(p.Say(i18n.FileNotFetched, shown))
		}
	}
}

// bring puts a file into a session's folder, once for each message however often it is handled. What is said in a
// recording is written down from what Telegram gave, before the agent's machine has the file.
func (a *Attachments) bring(ctx context.Context, in chat.Incoming, r views.Session, file attachment, spoken bool) (
	name, said string, err error) {
	id := fmt.Sprintf("%s-%d", in.Key, in.Sent.Unix()) // the key may come again after a quiet week
	name, err = a.Files.Has(ctx, r.ID, id)
	if err != nil || name != "" && !spoken {
		return name, "", err
	}
	body, ending, err := a.Downloader.Open(ctx, file.id)
	if err != nil {
		return "", "", err
	}
	defer body.Close()
	content := io.Reader(body)
	if spoken {
		recording, err := io.ReadAll(body)
		if err != nil {
			return "", "", err
		}
		if said, err = a.saidIn(ctx, in, file.called(ending), recording); err != nil {
			return "", "", err
		}
		content = bytes.NewReader(recording)
	}
	name, err = a.Files.Put(ctx, r.ID, id, file.called(ending), content)
	return name, said, err
}

// saidIn is what is said in a recording, as a program has written that down. Where the program
// fails, the agent gets the file alone, and the person is told.
func (a *Attachments) saidIn(ctx context.Context, in chat.Incoming, name string, recording []byte) (string, error) {
	said, err := a.Voice.Text(ctx, name, recording)
	said = strings.TrimSpace(said)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err == nil && said != "":
		return said, nil
	}
	a.Chat.Log.Warn("voice_not_written_down", logkey.Error, fmt.Sprint(err))
	return "", a.Chat.Warn(ctx, in.To, in.MessageID, render.Plain(a.Chat.In(in.To).Say(i18n.VoiceFailed)), nil)
}

// Awaited are the names of files that a prompt has which is not typed yet, or not proven: they are
// not cleaned away.
func (p *Prompts) Awaited() (map[string]bool, error) {
	entries, err := p.Entries.List()
	names := make(map[string]bool)
	for _, e := range entries {
		for _, name := range e.Files {
			names[name] = true
		}
	}
	return names, err
}
