package outbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"

	"ccbot/bot/render"
	"ccbot/internal/address"
)

// Limits of a file (core.telegram.org/bots/api#senddocument, #sendphoto): bytes, and UTF-16 units
// of its caption.
const (
	MaxFile    = 50 << 20
	MaxPhoto   = 10 << 20
	MaxCaption = 1024

	pictureName = "picture.png"
)

// uploadTimeout bounds one attempt: to send 50 MB within it needs 1.4 Mbit/s. The http client may
// set a shorter limit.
const uploadTimeout = 5 * time.Minute

// File is one file for a chat: Size bytes of Body, which stays open until SendFile has returned.
// Name is the name that the chat shows. The caption has at most MaxCaption units and may be empty.
type File struct {
	To      address.Conversation
	Name    string
	Caption render.Text
	Body    io.ReaderAt
	Size    int64
	ReplyTo int
	Sounds  bool
	Photo   bool      // a picture to look at; if Telegram refuses it as a photo it goes as a document
	Session uuid.UUID // as of Message
	Rank    Rank      // as of Message
	Written time.Time // as of Message
}

// isPhoto reports whether the file is sent as a photo: Telegram would refuse a larger photo.
func (f *File) isPhoto() bool { return f.Photo && f.Size <= MaxPhoto }

var (
	errFileSize = fmt.Errorf("a file has 1 to %d bytes", MaxFile)
	errCaption  = fmt.Errorf("a caption has at most %d characters", MaxCaption)
	errNameless = errors.New("a file has a name")
	errUnread   = errors.New("the file cannot be read")
)

// source marks an error of the file itself. A retry would not help, and it would block the queue of
// the chat.
type source struct{ io.Reader }

func (s source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %w", errUnread, err)
	}
	return n, err
}

// SendFile sends one file, in its chat's order and pace, and waits for the message's id; its errors
// are those of Send. Every attempt reads the file anew from its start.
func (o *Outbox) SendFile(ctx context.Context, f File) (messageID int, err error) {
	switch {
	case f.Size < 1 || f.Size > MaxFile:
		return 0, &Refused{errFileSize}
	case f.Caption.Length() > MaxCaption:
		return 0, &Refused{errCaption}
	case f.Name == "":
		return 0, &Refused{errNameless}
	}
	// The caption is sent like the text of a message: the next attempt leaves out formatting that
	// Telegram refused.
	m := Message{To: f.To, Text: f.Caption, ReplyTo: f.ReplyTo, Sounds: f.Sounds, Session: f.Session, Rank: f.Rank, Written: f.Written}
	id, err := o.ask(ctx, &job{kind: upload, rank: m.Rank, to: f.To, session: f.Session, change: change{message: m}, body: &f})
	if err != nil {
		return 0, fmt.Errorf("send file: %w", err)
	}
	return id, nil
}

// contents is the file for one attempt. Each attempt has a reader of its own, because a failed
// attempt may still read from its reader.
func (f *File) contents() *models.InputFileUpload {
	return &models.InputFileUpload{Filename: f.Name, Data: source{io.NewSectionReader(f.Body, 0, f.Size)}}
}

// file is the picture as one.
func (m Message) file() *File {
	return &File{Name: pictureName, Caption: m.Text, Body: bytes.NewReader(m.Picture.PNG), Size: int64(len(m.Picture.PNG))}
}

// mediaParams replaces the picture of a message, its caption and its buttons.
func mediaParams(chat int64, messageID int, m Message, photo bool) *tgbot.EditMessageMediaParams {
	const attached = "attach://" + pictureName
	data := bytes.NewReader(m.Picture.PNG)
	p := &tgbot.EditMessageMediaParams{ChatID: chat, MessageID: messageID, ReplyMarkup: keyboard(m.Buttons),
		Media: &models.InputMediaDocument{Media: attached, Caption: m.Text.Text, CaptionEntities: m.Text.Entities, MediaAttachment: data}}
	if photo {
		p.Media = &models.InputMediaPhoto{Media: attached, Caption: m.Text.Text, CaptionEntities: m.Text.Entities, MediaAttachment: data}
	}
	return p
}

func documentParams(to address.Conversation, f *File, m Message) *tgbot.SendDocumentParams {
	return &tgbot.SendDocumentParams{
		ChatID: to.ChatID, MessageThreadID: to.ThreadID, Document: f.contents(),
		Caption: m.Text.Text, CaptionEntities: m.Text.Entities, DisableNotification: !m.Sounds, ReplyParameters: replyTo(m), ReplyMarkup: keyboard(m.Buttons),
	}
}

func photoParams(to address.Conversation, f *File, m Message) *tgbot.SendPhotoParams {
	return &tgbot.SendPhotoParams{
		ChatID: to.ChatID, MessageThreadID: to.ThreadID, Photo: f.contents(),
		Caption: m.Text.Text, CaptionEntities: m.Text.Entities, DisableNotification: !m.Sounds, ReplyParameters: replyTo(m), ReplyMarkup: keyboard(m.Buttons),
	}
}
