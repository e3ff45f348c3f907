package outbox

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"

	"ccbot/bot/render"
	"ccbot/internal/address"
	"ccbot/port/talk"
)

// Conversation is the destination of a message: a chat and a topic of it.
type Conversation = address.Conversation

// Style is the colour of a button (Bot API 9.4); clients that do not know it show a plain one.
type Style string

// The styles Telegram knows; the zero value is the plain button.
const (
	Primary Style = "primary"
	Success Style = "success"
	Danger  Style = "danger"
)

// Button is one inline button. A tap sends Data back, 1 to 64 bytes (Bot API, callback_data).
type Button struct {
	Text  string `json:"text"`
	Data  string `json:"data"`
	Style Style  `json:"style,omitempty"`
}

// Message is one message: a text of at most render.Limit UTF-16 units, rows of buttons under it,
// and the id of the message it answers (0: none). Only a message that Sounds makes a sound where
// it arrives. An edit ignores To, ReplyTo and Sounds.
type Message struct {
	To      address.Conversation `json:"to"`
	Text    render.Text          `json:"text"`
	Buttons [][]Button           `json:"buttons,omitempty"`
	ReplyTo int                  `json:"reply_to,omitempty"`
	Sounds  bool                 `json:"sounds,omitempty"`
	// Rich is the text as Markdown, up to 32,768 characters. When it is set Send sends it as a rich
	// message instead of Text; Post sends Text, and no edit is rich.
	Rich string `json:"rich,omitempty"`
	// Picture is shown above the text, which is then its caption, of at most MaxCaption units.
	// Edits replace both; only a named post and its edits may have one.
	Picture *Picture `json:"picture,omitempty"`
	// Session is the session that the message is of; OnSent gets it with the message.
	Session uuid.UUID `json:"session,omitzero"`
	// Written is the time of the message's line in a transcript; zero: it comes from no line.
	Written time.Time `json:"-"`
	// Cursor is the position in the session's transcript after the message; OnSent gets it with the
	// message. Without a path the message shows no part of a transcript.
	Cursor talk.Cursor `json:"-"`
	// Rank orders the messages of a chat. An edit has the rank of its message, or its own rank if
	// that comes later.
	Rank Rank `json:"rank,omitempty"`
	// PostIfClosed makes Send post the message when General is closed, because people may open it
	// much later: Send then returns the id 0 as soon as the message is on disk. A rich message is not
	// posted, but ErrShutOut is returned: its Text may be only the beginning.
	PostIfClosed bool `json:"-"`
	// Name makes Post ask the owner of the name for the message when its turn comes. The owner also
	// gets the outcome of each edit, see Owner.
	Name string `json:"name,omitempty"`
	// More, when set, is called once by Send, before the first attempt, if the message had to wait
	// for its turn. The message that More returns is sent in place of this one, and is final. More
	// may wait for a disk.
	More func() Message `json:"-"`
}

// Picture is a PNG of at most MaxPhoto bytes.
type Picture struct {
	PNG []byte `json:"png"`
	// Exact sends it as a file, because Telegram makes a photo smaller than 1280 pixels; a picture
	// that Telegram refuses as a photo is also sent as a file.
	Exact bool `json:"exact,omitempty"`
}

// Rank orders a chat's messages. Messages of one rank keep their order.
type Rank int

// The ranks, the first one first. A session's question still goes after the session's earlier
// messages of rank Answer or Talk. The number of a rank is in the file of a post.
const (
	Question Rank = iota - 1 // open questions: an agent waits for the answer
	Now                      // replies to commands, receipts, failures
	Answer                   // the first answer to a prompt
	Talk                     // agents' texts, in places that show them in full
	Later                    // reports of other sessions, and files that agents send
	Closing                  // the last edit of a Card: it goes before all other calls of cards
	Opening                  // the message of a Card: it needs room for its last edit
	Turning                  // a Card that has come to a turning point: it goes before the other cards
	Card                     // shows how things go and is drawn again and again: sent when nothing else waits for the chat
)

// digests is the content of a message in the chat, as digests; a zero digest means unknown.
type digests struct{ text, buttons [sha256.Size]byte }

func digestsOf(m Message) digests {
	return digests{text: digest([]any{m.Text, m.Rich, m.Picture}), buttons: digest(m.Buttons)}
}

func digest(v any) [sha256.Size]byte {
	data, _ := json.Marshal(v) // strings, numbers and structs of them: it cannot fail
	return sha256.Sum256(data)
}

func keyboard(rows [][]Button) models.ReplyMarkup {
	var out [][]models.InlineKeyboardButton
	for _, row := range rows {
		var buttons []models.InlineKeyboardButton
		for _, b := range row {
			buttons = append(buttons, models.InlineKeyboardButton{Text: b.Text, CallbackData: b.Data, Style: string(b.Style)})
		}
		if len(buttons) > 0 {
			out = append(out, buttons)
		}
	}
	if len(out) == 0 {
		return nil // an edit without a keyboard removes the old one
	}
	return &models.InlineKeyboardMarkup{InlineKeyboard: out}
}

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
	Cursor  talk.Cursor
}

// isPhoto reports whether the file is sent as a photo: Telegram would refuse a larger photo.
func (f *File) isPhoto() bool { return f.Photo && f.Size <= MaxPhoto }

var (
	errFile   = fmt.Errorf("a file has a name, 1 to %d bytes, and a caption of at most %d characters", MaxFile, MaxCaption)
	errUnread = errors.New("the file cannot be read")
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
// are those of Send. Every attempt reads the file again from its start.
func (o *Outbox) SendFile(ctx context.Context, f File) (messageID int, err error) {
	if f.Name == "" || f.Size < 1 || f.Size > MaxFile || f.Caption.Length() > MaxCaption {
		return 0, &Refused{errFile}
	}
	// The caption is sent like the text of a message: the next attempt leaves out formatting that
	// Telegram refused.
	m := Message{To: f.To, Text: f.Caption, ReplyTo: f.ReplyTo, Sounds: f.Sounds, Session: f.Session, Rank: f.Rank, Written: f.Written, Cursor: f.Cursor}
	return o.ask(ctx, &job{kind: upload, rank: m.Rank, to: f.To, session: f.Session, message: m, body: &f})
}
