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
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/refusal"
)

// Attachments bring the files of messages to the agents' machine.
type Attachments struct {
	Chat       *chat.Chat
	Files      folders.Received
	Downloader Downloader
	Voice      Transcriber // nil: recordings are only files
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

// Refused is why a file is not passed on: a sentence for who sent it.
type Refused string

func (e Refused) Error() string { return string(e) }

// MaxRecording is the longest recording that is written down, in bytes: many hours. A longer one is
// only a file.
const MaxRecording = 20 << 20

// Bring brings a message's file to a session's folder, and gives what is said in a recording. What
// fails is tried again, three times in all, unless that is for good. The error is a Refused where that is told to who
// sent it; after any other the message is to be handled again.
func (a *Attachments) Bring(ctx context.Context, in chat.Incoming, r port.Session, m *models.Message) (name, said string, err error) {
	f, p := of(m), a.Chat.In(in.To)
	if f.id == "" {
		return "", "", Refused(p.Say(i18n.MediaUnknown))
	}
	a.Chat.Sender.Typing(ctx, in.To)
	spoken := a.Voice != nil && m.Voice != nil && m.Voice.FileSize <= MaxRecording
	shown := i18n.Args{"Name": chat.Tail(glyph.Name(path.Base(f.called(""))), 80)}
	for try := 1; ; try++ {
		name, said, err = a.bring(ctx, in, r, f, spoken)
		switch {
		case err == nil && m.Voice != nil && a.Voice == nil:
			return name, said, a.Chat.Post(ctx, card.Look{To: in.To, Session: r.ID, ReplyTo: in.MessageID, Text: p.Text(i18n.VoiceUnheard, i18n.Args{"Name": r.Name})})
		case err == nil:
			return name, said, nil
		case ctx.Err() != nil, errors.As(err, new(unsaid)):
			return "", "", err
		case errors.Is(err, ErrFileTooBig):
			return "", "", Refused(p.Say(i18n.FileTooBig, shown))
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

// bring puts a file into a session's folder, once for each message however often it is handled. What is said in a
// recording is written down from what Telegram gave, before the agent's machine has the file.
func (a *Attachments) bring(ctx context.Context, in chat.Incoming, r port.Session, f file, spoken bool) (
	name, said string, err error) {
	id := fmt.Sprintf("%s-%d", in.Key, in.Sent.Unix()) // the key may come again after a quiet week
	name, err = a.Files.Has(ctx, r.ID, id)
	if err != nil || name != "" && !spoken {
		return name, "", err
	}
	body, ending, err := a.Downloader.Open(ctx, f.id)
	if err != nil {
		return "", "", err
	}
	defer body.Close()
	content := io.Reader(body)
	if spoken {
		recording, err := io.ReadAll(io.LimitReader(body, MaxRecording+1)) // it may be longer than the server has said
		if err != nil {
			return "", "", err
		}
		if len(recording) <= MaxRecording {
			if said, err = a.saidIn(ctx, in, f.called(ending), recording); err != nil {
				return "", "", unsaid{err}
			}
		}
		content = io.MultiReader(bytes.NewReader(recording), body)
	}
	name, err = a.Files.Put(ctx, r.ID, id, f.called(ending), content)
	return name, said, err
}

// unsaid is what kept the person from hearing that a recording could not be written down.
type unsaid struct{ error }

func (e unsaid) Unwrap() error { return e.error }

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
	a.Chat.Log.Warn("voice_not_written_down", logkey.Error, err)
	return "", a.Chat.Warn(ctx, in.To, in.MessageID, render.Plain(a.Chat.In(in.To).Say(i18n.VoiceFailed)), nil)
}

// file is the file of a message.
type file struct {
	id   string // Telegram's
	name string // as its sender calls it, else as we do
	kind string // with the ending of a name that has none where the server knows none either
}

// of finds the file of a message; there is none without an id. A file without a name is
// called by its kind and message, so that none is like an earlier one.
func of(m *models.Message) (f file) {
	switch {
	case len(m.Photo) > 0:
		p := slices.MaxFunc(m.Photo, func(a, b models.PhotoSize) int { return a.Width - b.Width })
		f = file{p.FileID, "", "photo.jpg"}
	case m.Animation != nil: // it comes as a document, too
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

// called is the file's name with an ending.
func (f file) called(ending string) string {
	if path.Ext(f.name) != "" {
		return f.name
	}
	return f.name + cmp.Or(ending, path.Ext(f.kind))
}

// Name is the name of a message's file; empty: there is none.
func Name(m *models.Message) string {
	f := of(m)
	if f.id == "" {
		return ""
	}
	return f.called("")
}
