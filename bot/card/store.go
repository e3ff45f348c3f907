package card

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/uuid"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/internal/keepjson"
	"ccbot/internal/pause"
)

const (
	version = 1
	suffix  = ".json"
	maxSize = 4 << 20 // bytes of a file; most is for a picture, a text and a payload have a fraction of it
)

// unknownID is the id of a message that is in the chat under an id that Telegram did not say.
const unknownID = -1

// record is one card, and its file.
type record struct {
	Version  int                 `json:"version"`
	ID       string              `json:"id"`
	Kind     string              `json:"kind"`
	Key      string              `json:"key"`
	Look     Look                `json:"look"`
	Payload  json.RawMessage     `json:"payload,omitempty"`
	Revision string              `json:"revision"`
	Message  int                 `json:"message,omitempty"` // id of the message; 0: it is not in the chat yet
	At       outbox.Conversation `json:"at,omitzero"`       // where the message is
	Drawn    bool                `json:"drawn,omitempty"`   // the message is known to show the revision
	Closed   bool                `json:"closed,omitempty"`
	Renewed  bool                `json:"renewed,omitempty"` // people have deleted its message once

	unknown  keepjson.Unknown // fields of a later program; they survive a rewrite
	offered  string           // what the outbox may be sending, see drawn
	unposted bool             // the disk did not take the post
	forget   time.Time        // of a closed one that the chat shows so: when to forget it
}

type plainRecord record

// MarshalJSON writes the file, with the fields that this program does not know.
func (c record) MarshalJSON() ([]byte, error) { return keepjson.Marshal(plainRecord(c), c.unknown) }

// UnmarshalJSON reads one; keepjson.ErrNewer: a newer program wrote it.
func (c *record) UnmarshalJSON(data []byte) error {
	var p plainRecord
	unknown, err := keepjson.Unmarshal(data, version, &p)
	if err != nil {
		return err
	}
	*c = record(p)
	c.unknown = unknown
	return nil
}

// post is the name of the post that brings the card into its place.
func (c record) post() string {
	return c.ID + "@" + strconv.FormatInt(c.Look.To.ChatID, 10) + "." + strconv.Itoa(c.Look.To.ThreadID)
}

// place is where the message is, or is to be.
func (c record) place() outbox.Conversation {
	if c.Message == 0 {
		return c.Look.To
	}
	return c.At
}

// alive says whether taps count.
func (c record) alive(now time.Time) bool {
	return !c.Closed && (c.Look.Until.IsZero() || now.Before(c.Look.Until))
}

// message is the card as it should look; a closed one has no buttons.
func (c record) message() outbox.Message {
	l := c.Look
	m := outbox.Message{Name: c.post(), To: l.To, Text: l.Text, Picture: l.Picture, Session: l.Session, ReplyTo: l.ReplyTo, Sounds: l.Sounds, Rank: l.Rank}
	if c.Closed {
		return m
	}
	b := button{card: c.ID, revision: c.Revision}
	for _, row := range l.Options {
		var buttons []outbox.Button
		for _, o := range row {
			buttons = append(buttons, outbox.Button{Text: o.Text, Data: b.data(), Style: o.Style})
			b.option++
		}
		m.Buttons = append(m.Buttons, rows(buttons)...)
	}
	return m
}

// rowWidth is how much the buttons of a row hold together on a phone, in letters; what is too long for its button is cut
// there.
const rowWidth = 36

// rows are the buttons of a row in as many rows as show them whole.
func rows(row []outbox.Button) [][]outbox.Button {
	widest := 0
	for _, b := range row {
		widest = max(widest, ansi.StringWidth(b.Text))
	}
	columns := len(row)
	for columns > 1 && widest > rowWidth/columns-1 {
		columns--
	}
	return slices.Collect(slices.Chunk(row, max(columns, 1)))
}

// drawn names what is drawn.
func (c record) drawn() string { return c.Revision + digest([]any{c.Look.Text, c.Look.Options}) }

// isShownBy says whether a message looks as the card should: two posts of a card may be under way,
// each with the look of its moment.
func (c record) isShownBy(m outbox.Message) bool {
	now := c.message()
	return digest(now.Text) == digest(m.Text) && digest(now.Buttons) == digest(m.Buttons) && digest(now.Picture) == digest(m.Picture)
}

func (c record) option(n int) (Option, bool) {
	for _, row := range c.Look.Options {
		if n < len(row) {
			return row[n], true
		}
		n -= len(row)
	}
	return Option{}, false
}

var errRecord = errors.New("not a card of this version")

func read(name string, data []byte) (c record, err error) {
	if err := json.Unmarshal(data, &c); err != nil {
		return c, err
	}
	if c.Version != version || c.ID+suffix != name || len(c.ID) != idLength || c.Kind == "" || c.Look.Text.Blank() {
		return c, errRecord
	}
	return c, nil
}

// putLocked keeps a card, on disk first.
func (b *Board) putLocked(c record) error {
	data, err := json.Marshal(c)
	if err == nil {
		err = b.folder.Put(c.ID+suffix, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write card: %w", err)
	}
	b.noteLocked(c)
	return nil
}

// noteLocked keeps a card in memory, and has Run see when it is to be looked at.
func (b *Board) noteLocked(c record) {
	b.cards[c.ID] = c
	pause.Poke(b.wake)
}

func (b *Board) removeLocked(c record) error {
	if err := b.folder.Remove(c.ID + suffix); err != nil {
		return fmt.Errorf("remove card: %w", err)
	}
	delete(b.cards, c.ID)
	return nil
}

// Look is what a message should look like. A text that does not fit one message is cut.
type Look struct {
	To      outbox.Conversation `json:"to"`
	Text    render.Text         `json:"text"`
	Options [][]Option          `json:"options,omitempty"` // rows of buttons; an empty row is none
	// Picture stands above the text. A card that has one has one until its end.
	Picture *outbox.Picture `json:"picture,omitempty"`
	Session uuid.UUID       `json:"session,omitzero"` // whose message it is
	ReplyTo int             `json:"reply_to,omitempty"`
	Sounds  bool            `json:"sounds,omitempty"` // its first message, never an edit
	Rank    outbox.Rank     `json:"rank,omitempty"`
	// Until, when set, is when the card closes by itself.
	Until time.Time `json:"until,omitzero"`
	// Renew sends the message anew when people have deleted it, and RenewOnce the first time. Otherwise the
	// card is forgotten then.
	Renew     bool `json:"renew,omitempty"`
	RenewOnce bool `json:"renew_once,omitempty"`
	// Means, when set, says all that the options mean: taps count on any look that means the same, whatever
	// its text, its payload and the words on its buttons. A card that is drawn again and again would else be
	// stale whenever it is tapped.
	Means string `json:"means,omitempty"`
}

// Option is a button: its words, and the value that a tap on it gives to the feature.
type Option struct {
	Text  string       `json:"text"`
	Value string       `json:"value"`
	Style outbox.Style `json:"style,omitempty"`
	For   int64        `json:"for,omitempty"` // the only person whose taps count; 0: anybody's
}

// fitting is the look as it is kept: cut to one message, without empty rows, and equal after a way over the disk.
func (l Look) fitting() Look {
	l.Text = fit(l.Text, l.limit())
	l.Options = slices.DeleteFunc(slices.Clone(l.Options), func(row []Option) bool { return len(row) == 0 })
	l.Until = l.Until.UTC().Round(0)
	return l
}

// limit is the length of the longest text.
func (l Look) limit() int {
	if l.Picture != nil {
		return outbox.MaxCaption
	}
	return render.Limit
}

func fit(t render.Text, limit int) render.Text {
	if parts := t.Split(limit); len(parts) > 0 {
		return parts[0]
	}
	return render.Text{}
}

// revisionOf names exactly what is drawn and what the options of it mean, or only the latter where that
// is said: then the words on the buttons may change, too.
func revisionOf(l Look, payload json.RawMessage) string {
	if l.Means != "" {
		var options []Option
		for _, row := range l.Options {
			for _, o := range row {
				options = append(options, Option{Value: o.Value, For: o.For})
			}
		}
		return digest(struct {
			Means   string
			Options []Option
		}{l.Means, options})
	}
	return digest(struct {
		Text    render.Text
		Options [][]Option
		Payload json.RawMessage
		Picture *outbox.Picture `json:",omitempty"`
	}{l.Text, l.Options, payload, l.Picture})
}

func digest(v any) string {
	data, _ := json.Marshal(v) // strings, numbers and valid JSON: it cannot fail
	sum := sha256.Sum256(data)
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// Lengths of what a button carries; with an option of three digits it has 41 of the 64 bytes.
const (
	idLength       = 13
	revisionLength = 22
)

// button is what a button carries.
type button struct {
	card     string
	revision string
	option   int // its place in the rows, from 0
}

func (b button) data() string { return b.card + ":" + b.revision + ":" + strconv.Itoa(b.option) }

func parse(data string) (button, bool) {
	parts := strings.Split(data, ":")
	if len(parts) != 3 || len(parts[0]) != idLength || len(parts[1]) != revisionLength {
		return button{}, false
	}
	option, err := strconv.Atoi(parts[2])
	b := button{card: parts[0], revision: parts[1], option: option}
	return b, err == nil && option >= 0 && b.data() == data
}

// IsButton says whether the data of a tap is of a card's button.
func IsButton(data string) bool {
	_, ok := parse(data)
	return ok
}
