package prompt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/port/files"
	"ccbot/bot/port/views"
	"ccbot/bot/quotation"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// Downloader fetches files that people send from the Bot API server.
type Downloader interface {
	// Download writes a file and returns the ending of its name on the server, such as ".jpg".
	// ErrFileTooBig is for good; any other error may pass.
	Download(ctx context.Context, fileID string, to io.Writer) (ending string, err error)
	// Limit is how many bytes a file may have.
	Limit() int64
}

// ErrFileTooBig says that the Bot API server does not give a file, for its size.
var ErrFileTooBig = errors.New("the file is too big for the Bot API server")

// Files puts what fill writes into the folder of a session, once for each id; see files.Files.
type Files interface {
	Put(session uuid.UUID, id string, fill func(io.Writer) (name string, err error)) (files.Received, error)
}

// Attachments brings the files of messages to the agents' machine.
type Attachments struct {
	Chat       *chat.Chat
	Files      Files
	Downloader Downloader
	Voice      Transcriber // nil: recordings are only files
}

// FileProblem is why a file is not passed on: a sentence for who sent it.
type FileProblem struct{ Text string }

func (p *FileProblem) Error() string { return p.Text }

// FetchError is a download that failed; another try may succeed.
type FetchError struct {
	Name string // of the file
	err  error
}

func (e *FetchError) Error() string { return "fetch a file: " + e.err.Error() }

func (e *FetchError) Unwrap() error { return e.err }

// Receive puts a message's file into a session's folder, once for each message however often it is
// handled, and gives the message's text. What is said in a recording is written down from what
// Telegram gave, before the agent's machine has the file. Errors: *FileProblem, *FetchError.
func (a *Attachments) Receive(ctx context.Context, in Message, r views.Session, file Attachment,
	text string) (Message, string, error) {
	if file.size > a.Downloader.Limit() {
		return in, "", a.tooBig(file)
	}
	a.Chat.Sender.Typing(ctx, in.To)
	fill := func(to io.Writer) (string, error) { return a.download(ctx, file, to) }
	if file.spoken && a.Voice != nil && file.size <= MaxRecording {
		var recording bytes.Buffer
		name, err := fill(&recording)
		if err == nil {
			text, err = a.withSpeech(ctx, in, name, recording.Bytes(), text)
		}
		if err != nil {
			return in, "", err
		}
		fill = func(to io.Writer) (string, error) {
			_, err := to.Write(recording.Bytes())
			return name, err
		}
	}
	in, err := a.put(in, r, fill)
	return in, text, err
}

// put puts the file that fill writes into a session's folder. Errors: *FileProblem, or fill's own.
func (a *Attachments) put(in Message, r views.Session, fill func(io.Writer) (string, error)) (Message, error) {
	id := fmt.Sprintf("%s-%d", in.Key, in.Sent.Unix()) // an update's id may come again after a quiet week
	got, err := a.Files.Put(r.ID, id, fill)
	if err == nil {
		in.Files, in.Session, in.Dir = []string{got.Name}, r.ID, got.Dir
		return in, nil
	}
	refused, ok := errors.AsType[*files.Refusal](err)
	if !ok {
		return in, err
	}
	folder := path.Join(r.Dir, files.Folder)
	if refused.NotOurs {
		return in, &FileProblem{Text: a.Chat.Words.Say(i18n.InboxNotOurs, i18n.Args{"Path": folder})}
	}
	a.Chat.Log.Error("file_not_kept", "session_id", r.ID.String(), "error", err.Error())
	args := i18n.Args{"Path": folder, "Reason": refused.Text}
	return in, &FileProblem{Text: a.Chat.Words.Say(i18n.InboxUnwritable, args)}
}

// download fetches a file and says how it is to be called. Errors: *FileProblem, *FetchError.
func (a *Attachments) download(ctx context.Context, file Attachment, to io.Writer) (name string, err error) {
	ending, err := a.Downloader.Download(ctx, file.id, to)
	switch {
	case errors.Is(err, ErrFileTooBig):
		return "", a.tooBig(file)
	case err != nil:
		return "", &FetchError{Name: file.shown(), err: err}
	}
	return file.called(ending), nil
}

func (a *Attachments) tooBig(file Attachment) error {
	return &FileProblem{Text: a.Chat.Words.Say(i18n.FileTooBig, i18n.Args{"Name": file.shown()})}
}

// Transcriber writes down what is said in a recording; name is that of its file.
type Transcriber interface {
	Text(ctx context.Context, name string, recording []byte) (string, error)
}

// MaxRecording is the longest recording that is written down, in bytes: many hours. A longer one is
// only a file.
const MaxRecording = 20 << 20

// speech is the source of what is said in a voice message.
const speech = "Transcript of a voice message"

var errSaidNothing = errors.New("it wrote nothing")

// withSpeech is the text of a voice message: its caption, and what is said in it as a quotation,
// for a program has written that down. Where the program fails, the agent gets the file alone, and
// the person is told.
func (a *Attachments) withSpeech(ctx context.Context, in Message, name string, recording []byte,
	caption string) (string, error) {
	said, err := a.Voice.Text(ctx, name, recording)
	said = strings.TrimSpace(said)
	if err == nil && said == "" {
		err = errSaidNothing
	}
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		a.Chat.Log.Warn("voice_not_written_down", "error", err.Error())
		return caption, a.Chat.Warn(ctx, in.To, in.MessageID, render.Plain(a.Chat.Words.Say(i18n.VoiceFailed)), nil)
	case caption == "":
		return quotation.Of(speech, said), nil
	}
	return caption + "\n" + quotation.Of(speech, said), nil
}
