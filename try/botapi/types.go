package botapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"time"

	"github.com/go-telegram/bot/models"
)

// Errors of the person side.
var (
	// ErrNoMessage is returned if the chat does not have such a message.
	ErrNoMessage = errors.New("stand-in: no such message")
	// ErrNoButton says that the message has no enabled button with that callback data.
	ErrNoButton = errors.New("stand-in: no such button")
	// ErrNoAnswer says that the bot did not answer a tap in time.
	ErrNoAnswer = errors.New("stand-in: the tap was not answered")
	// ErrNotLoopback says that a listener is reachable from other machines.
	ErrNotLoopback = errors.New("stand-in: only loopback addresses are served")
)

// Entity is a formatted part of a text; offset and length count UTF-16 units.
type Entity = models.MessageEntity

// User is https://core.telegram.org/bots/api#user.
type User struct {
	ID           int64  `json:"id"`
	IsBot        bool   `json:"is_bot"`
	FirstName    string `json:"first_name"`
	Username     string `json:"username,omitempty"`
	LanguageCode string `json:"language_code,omitempty"`
}

// Chat is https://core.telegram.org/bots/api#chat.
type Chat struct {
	ID        int64  `json:"id"`
	Type      string `json:"type"`
	Title     string `json:"title,omitempty"`
	FirstName string `json:"first_name,omitempty"`
	Username  string `json:"username,omitempty"`
	IsForum   bool   `json:"is_forum,omitempty"`
}

// Message is the current state of one message. Its JSON is Telegram's; fields without JSON are for
// tests and the page.
type Message struct {
	ID              int             `json:"message_id"`
	Thread          int             `json:"message_thread_id,omitempty"`
	IsTopicMessage  bool            `json:"is_topic_message,omitempty"`
	From            *User           `json:"from,omitempty"`
	Chat            Chat            `json:"chat"`
	Date            int64           `json:"date"` // seconds since 1970
	EditDate        int64           `json:"edit_date,omitempty"`
	MediaGroup      string          `json:"media_group_id,omitempty"`
	ReplyTo         *Message        `json:"reply_to_message,omitempty"`
	Text            string          `json:"text,omitempty"`
	Entities        []Entity        `json:"entities,omitempty"`
	Caption         string          `json:"caption,omitempty"`
	CaptionEntities []Entity        `json:"caption_entities,omitempty"`
	Document        *Document       `json:"document,omitempty"`
	Photo           []PhotoSize     `json:"photo,omitempty"`
	Voice           *Voice          `json:"voice,omitempty"`
	Video           *Video          `json:"video,omitempty"`
	Sticker         *Sticker        `json:"sticker,omitempty"`
	Location        *Location       `json:"location,omitempty"`
	Contact         *Contact        `json:"contact,omitempty"`
	ForwardOrigin   *ForwardOrigin  `json:"forward_origin,omitempty"`
	TopicCreated    *TopicCreated   `json:"forum_topic_created,omitempty"`
	TopicEdited     *TopicEdited    `json:"forum_topic_edited,omitempty"`
	TopicClosed     *struct{}       `json:"forum_topic_closed,omitempty"`
	TopicReopened   *struct{}       `json:"forum_topic_reopened,omitempty"`
	MigratedTo      int64           `json:"migrate_to_chat_id,omitempty"`
	MigratedFrom    int64           `json:"migrate_from_chat_id,omitempty"`
	Rich            *RichMessage    `json:"rich_message,omitempty"`
	ReplyMarkup     json.RawMessage `json:"reply_markup,omitempty"`

	// RichMarkdown is a rich message as the bot gave it: the Markdown, or else the HTML or the
	// blocks' JSON.
	RichMarkdown string `json:"-"`
	// Keyboard is ReplyMarkup, read.
	Keyboard [][]Button `json:"-"`
	// Reactions holds the bot's and the people's reactions, by sender.
	Reactions []Reaction `json:"-"`
	// Edits counts the changes of text, caption, media and keyboard that were applied.
	Edits int `json:"-"`
	// FromBot tells the bot's messages from the people's.
	FromBot bool `json:"-"`
	// Silent says that the bot asked for no notification.
	Silent bool `json:"-"`
	// Pinned says that the bot pinned it.
	Pinned bool `json:"-"`
}

// Body is the text, what a rich message was made of, or the caption of a file.
func (m Message) Body() string { return cmp.Or(m.Text, m.RichMarkdown, m.Caption) }

// Button is one key of an inline keyboard.
type Button struct {
	Text     string
	Data     string // callback_data
	URL      string
	CopyText string
	Style    string // "", "danger", "success", "primary"
	Disabled bool
}

// Find returns the first button whose text or data is label.
func (m Message) Find(label string) (Button, bool) {
	for _, row := range m.Keyboard {
		for _, b := range row {
			if b.Text == label || b.Data == label {
				return b, true
			}
		}
	}
	return Button{}, false
}

// Reaction is one emoji that someone put under a message.
type Reaction struct {
	Emoji string
	From  int64 // user id; the bot's own id for the bot
}

// Document is https://core.telegram.org/bots/api#document.
type Document struct {
	FileID       string `json:"file_id"`
	FileUniqueID string `json:"file_unique_id"`
	FileName     string `json:"file_name,omitempty"`
	MimeType     string `json:"mime_type,omitempty"`
	FileSize     int64  `json:"file_size,omitempty"`
}

// PhotoSize is https://core.telegram.org/bots/api#photosize.
type PhotoSize struct {
	FileID       string `json:"file_id"`
	FileUniqueID string `json:"file_unique_id"`
	Width        int    `json:"width"`
	Height       int    `json:"height"`
	FileSize     int    `json:"file_size,omitempty"`
}

// Voice is https://core.telegram.org/bots/api#voice.
type Voice struct {
	FileID       string `json:"file_id"`
	FileUniqueID string `json:"file_unique_id"`
	Duration     int    `json:"duration"`
	MimeType     string `json:"mime_type,omitempty"`
	FileSize     int64  `json:"file_size,omitempty"`
}

// Video is https://core.telegram.org/bots/api#video.
type Video struct {
	FileID       string `json:"file_id"`
	FileUniqueID string `json:"file_unique_id"`
	Width        int    `json:"width"`
	Height       int    `json:"height"`
	Duration     int    `json:"duration"`
	FileName     string `json:"file_name,omitempty"`
	MimeType     string `json:"mime_type,omitempty"`
	FileSize     int64  `json:"file_size,omitempty"`
}

// Sticker is https://core.telegram.org/bots/api#sticker.
type Sticker struct {
	FileID       string `json:"file_id"`
	FileUniqueID string `json:"file_unique_id"`
	Type         string `json:"type"`
	Width        int    `json:"width"`
	Height       int    `json:"height"`
	IsAnimated   bool   `json:"is_animated"`
	IsVideo      bool   `json:"is_video"`
	Emoji        string `json:"emoji,omitempty"`
	CustomEmoji  string `json:"custom_emoji_id,omitempty"`
	FileSize     int64  `json:"file_size,omitempty"`
}

// Location is https://core.telegram.org/bots/api#location.
type Location struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
}

// Contact is https://core.telegram.org/bots/api#contact.
type Contact struct {
	PhoneNumber string `json:"phone_number"`
	FirstName   string `json:"first_name"`
}

// ForwardOrigin is https://core.telegram.org/bots/api#messageorigin, as far as the stand-in makes
// it.
type ForwardOrigin struct {
	Type           string `json:"type"` // hidden_user, or what no library knows yet
	Date           int64  `json:"date"`
	SenderUserName string `json:"sender_user_name,omitempty"`
}

// RichMessage is https://core.telegram.org/bots/api#richmessage. The stand-in does not parse the
// source: all of it is in one paragraph.
type RichMessage struct {
	Blocks []RichBlock `json:"blocks"`
}

// RichBlock is https://core.telegram.org/bots/api#richblock.
type RichBlock struct {
	Type string `json:"type"` // paragraph
	Text string `json:"text"`
}

// TopicCreated is the service message that opens a topic.
type TopicCreated struct {
	Name      string `json:"name"`
	IconColor int    `json:"icon_color"`
	Icon      string `json:"icon_custom_emoji_id,omitempty"`
}

// TopicEdited is the service message about a new name or icon of a topic.
type TopicEdited struct {
	Name string `json:"name,omitempty"`
	Icon string `json:"icon_custom_emoji_id,omitempty"`
}

// Command is one entry of the bot's menu.
type Command struct {
	Command     string `json:"command"`
	Description string `json:"description"`
}

// Call is one request to the Bot API, as it ended.
type Call struct {
	At     time.Time         // when it came
	Ended  time.Time         // when its answer was ready
	Method string            // as the client wrote it
	Status int               // HTTP status; 0 when the connection was cut instead
	Params map[string]string // fields as sent, files as "@name"
	Fault  FaultKind         // the fault that was played, if any
	// Applied reports whether the call was executed, even if its response was lost.
	Applied bool
	// RetryAfter is the wait of the answer, in seconds.
	RetryAfter int
}

// Answer is the bot's answer to a tap.
type Answer struct {
	Text  string
	Alert bool
	URL   string
}

// FaultKind names a way to fail.
type FaultKind string

// The faults. Only FaultResetAfter and FaultTruncated apply the call before they spoil the answer.
const (
	FaultTooMany     FaultKind = "429"          // too many requests, RetryAfter seconds
	FaultInternal    FaultKind = "500"          // Telegram's JSON with 500
	FaultHTML502     FaultKind = "html502"      // a proxy's page instead of JSON
	FaultResetBefore FaultKind = "reset_before" // connection cut, nothing applied
	FaultResetAfter  FaultKind = "reset_after"  // applied, then the connection is cut
	// no answer until the client gives up, or the connection is cut after Hold; nothing applied
	FaultHang         FaultKind = "hang"
	FaultTruncated    FaultKind = "truncated"       // applied, half of the body arrives
	FaultConflict     FaultKind = "conflict409"     // another poller
	FaultUnauthorized FaultKind = "unauthorized401" // the token was revoked
	FaultForbidden    FaultKind = "forbidden403"    // blocked by the user
	FaultMigrate      FaultKind = "migrate"         // the group became the supergroup MigrateTo
	FaultStatus       FaultKind = "status"          // Status and Description as given
)

// Fault asks for a failure of the next calls of one method.
type Fault struct {
	Method      string // "" is every method but getUpdates; case does not matter
	Times       int    // how often; 0 is once, negative is until withdrawn
	Skip        int    // calls that go through before
	Kind        FaultKind
	Status      int           // for FaultStatus; otherwise the kind's own
	RetryAfter  int           // seconds; 0 is 1
	MigrateTo   int64         // for FaultMigrate
	Description string        // replaces the kind's own
	Hold        time.Duration // for FaultHang; 0 is until the client gives up
}
