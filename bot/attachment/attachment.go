package attachment

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-telegram/bot/models"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/machine"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/refusal"
)

// Attachments stores the files of messages on the agents' machine.
type Attachments struct {
	Chat       *chat.Chat
	Files      folders.Received
	Downloader Downloader
	Voice      Transcriber // nil: recordings are only files
}

// Downloader downloads files that people send from the Bot API server.
type Downloader interface {
	// Open starts a download. ending is the extension of the file's name on the server, such as
	// ".jpg". An error of Open, or of reading, may be temporary unless it is ErrFileTooBig.
	Open(ctx context.Context, fileID string) (body io.ReadCloser, ending string, err error)
}

var errNoText = errors.New("VOICE_COMMAND printed no text")

// ErrFileTooBig is returned if the file is too big for the Bot API server.
var ErrFileTooBig = errors.New("the file is too big for the Bot API server")

// Transcriber transcribes a recording; name is its file name.
type Transcriber interface {
	Text(ctx context.Context, name string, recording []byte) (string, error)
}

// Refused is the reason why a file is not passed on: a sentence for its sender.
type Refused string

func (e Refused) Error() string { return string(e) }

// MaxRecording is the size of the longest recording that is transcribed: many hours. A longer
// recording is only a file.
const MaxRecording = 20 << 20

// Bring stores a message's file in a session's folder, and returns its path, as the agent's machine
// has it, and the words of a recording. It tries three times unless the error is permanent. The error is a Refused if the sender must read
// it; after any other error the message must be handled again.
func (a *Attachments) Bring(ctx context.Context, in chat.Incoming, r port.Session, m *models.Message) (file, said string, err error) {
	f, p := fileOf(m), a.Chat.In(in.To)
	if f.id == "" {
		return "", "", Refused(p.Say(i18n.MediaUnknown))
	}
	a.Chat.Sender.Typing(ctx, in.To)
	spoken := a.Voice != nil && m.Voice != nil && m.Voice.FileSize <= MaxRecording
	shown := i18n.Args{"Name": chat.Tail(glyph.Name(path.Base(f.called(""))), 80)}
	for try := 1; ; try++ {
		file, said, err = a.bring(ctx, in, r, f, spoken)
		switch {
		case err == nil && m.Voice != nil && a.Voice == nil:
			return file, said, a.Chat.Post(ctx, card.Content{To: in.To, Session: r.ID, ReplyTo: in.MessageID, Text: p.Text(i18n.VoiceUnheard, i18n.Args{"Name": r.Name})})
		case err == nil:
			return file, said, nil
		case ctx.Err() != nil, errors.As(err, new(unsaid)):
			return "", "", err
		case errors.Is(err, ErrFileTooBig):
			return "", "", Refused(p.Say(i18n.FileTooBig, shown))
		case refusal.Is(err, refusal.Lapsed): // the machine has restarted
		case errors.As(err, new(*refusal.Error)):
			a.Chat.Log.Error("file_not_kept", logkey.SessionID, r.ID.String(), logkey.Error, err)
			return "", "", Refused(p.Failure(r, err).Text.Text)
		}
		a.Chat.Log.Warn("file_not_fetched", logkey.Error, err)
		if try == 3 || pause.For(ctx, time.Second) != nil {
			return "", "", Refused(p.Say(i18n.FileNotFetched, shown))
		}
	}
}

// bring stores a file in a session's folder, once per message. A recording is transcribed from
// Telegram's data, before the agent's machine has the file.
func (a *Attachments) bring(ctx context.Context, in chat.Incoming, r port.Session, f file, spoken bool) (
	at, said string, err error) {
	id := fmt.Sprintf("%s-%d", in.Key, in.Sent.Unix()) // the key may come again after a quiet week
	name, folder, err := a.Files.Has(ctx, r.ID, id)
	if err != nil || name != "" && !spoken {
		return pathOf(r, folder, name), "", err
	}
	body, ending, err := a.Downloader.Open(ctx, f.id)
	if err != nil {
		return "", "", err
	}
	defer body.Close()
	content := io.Reader(body)
	if spoken {
		recording, err := io.ReadAll(io.LimitReader(body, MaxRecording+1)) // the server's FileSize may be wrong
		if err != nil {
			return "", "", err
		}
		if len(recording) <= MaxRecording {
			if said, err = a.transcribe(ctx, in, f.called(ending), recording); err != nil {
				return "", "", unsaid{err}
			}
		}
		content = io.MultiReader(bytes.NewReader(recording), body)
	}
	at, err = a.put(ctx, r, id, f.called(ending), content)
	return at, said, err
}

// pathOf is the path of a file on its machine. An older machine does not say in which folder it is: in the session's, if the agent has
// not gone elsewhere meanwhile.
func pathOf(r port.Session, folder, name string) string {
	_, last := folders.Split(r.Dir)
	return path.Join(cmp.Or(folder, last), folders.InboxName, name)
}

// put stores the content of a file.
func (a *Attachments) put(ctx context.Context, r port.Session, id, wished string, content io.Reader) (at string, err error) {
	t, err := a.Files.Begin(ctx, r.ID, id, wished)
	if err != nil {
		return "", err
	}
	defer func() { err = cmp.Or(err, a.Chat.Bodies.Close(ctx, t)) }()
	if err := a.Chat.Bodies.Put(ctx, t, content); err != nil {
		return "", err
	}
	var name, folder string
	err = machine.Repeat(ctx, func() error { name, folder, err = a.Files.Finish(ctx, t); return err })
	return pathOf(r, folder, name), err
}

// unsaid is an error of the message that a recording could not be transcribed.
type unsaid struct{ error }

func (e unsaid) Unwrap() error { return e.error }

// transcribe returns the transcription of a recording. If it fails, the agent gets only the file,
// and the person is warned.
func (a *Attachments) transcribe(ctx context.Context, in chat.Incoming, name string, recording []byte) (string, error) {
	said, err := a.Voice.Text(ctx, name, recording)
	said = strings.TrimSpace(said)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err == nil && said != "":
		return said, nil
	case err == nil:
		err = errNoText
	}
	a.Chat.Log.Warn("voice_not_written_down", logkey.Error, err)
	return "", a.Chat.Warn(ctx, in.To, in.MessageID, render.Plain(a.Chat.In(in.To).Say(i18n.VoiceFailed)), nil)
}

// file is the file of a message.
type file struct {
	id   string // Telegram's
	name string // chosen by the sender, otherwise made from kind and message id
	kind string // default name; its extension is used if neither name nor server has one
}

// fileOf returns the file of a message, without an id if there is none. A file without a name is
// named after its kind and message id, so names do not repeat.
func fileOf(m *models.Message) (f file) {
	switch {
	case len(m.Photo) > 0:
		p := slices.MaxFunc(m.Photo, func(a, b models.PhotoSize) int { return a.Width - b.Width })
		f = file{p.FileID, "", "photo.jpg"}
	case m.Animation != nil: // it is also sent as a document
		f = file{m.Animation.FileID, m.Animation.FileName, "animation.mp4"}
	case m.Video != nil:
		f = file{m.Video.FileID, m.Video.FileName, "video.mp4"}
	case m.VideoNote != nil:
		f = file{m.VideoNote.FileID, "", "video-note.mp4"}
	case m.Audio != nil:
		f = file{m.Audio.FileID, m.Audio.FileName, "audio.mp3"}
	case m.Voice != nil:
		f = file{m.Voice.FileID, "", "voice.ogg"}
	case m.Document != nil:
		f = file{m.Document.FileID, m.Document.FileName, "file"}
	}
	if strings.TrimSpace(f.name) == "" {
		f.name = fmt.Sprintf("%s-%d", strings.TrimSuffix(f.kind, path.Ext(f.kind)), m.ID)
	}
	return f
}

// called returns the file's name with an extension.
func (f file) called(ending string) string {
	if path.Ext(f.name) != "" {
		return f.name
	}
	return f.name + cmp.Or(ending, path.Ext(f.kind))
}

// Name returns the name of a message's file, or "".
func Name(m *models.Message) string {
	f := fileOf(m)
	if f.id == "" {
		return ""
	}
	return f.called("")
}
