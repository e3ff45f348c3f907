package card

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/internal/keepjson"
	"ccbot/internal/pause"
)

const (
	version = 1
	suffix  = ".json"
	maxSize = 4 << 20 // bytes of a file; mostly for a picture, text and payload need a fraction
)

// unknownID is the id of a message that is in the chat with an id that Telegram did not return.
const unknownID = -1

// record is one card, and its file.
type record struct {
	Version      int                 `json:"version"`
	ID           string              `json:"id"`
	Kind         string              `json:"kind"`
	Key          string              `json:"key"`
	Content      Content             `json:"content"`
	Payload      json.RawMessage     `json:"payload,omitempty"`
	Revision     string              `json:"revision"`
	Message      int                 `json:"message,omitempty"` // id of the message; 0: it is not in the chat yet
	At           outbox.Conversation `json:"at,omitzero"`       // the place of the message
	Drawn        bool                `json:"drawn,omitempty"`   // the message is known to show the revision
	Closed       bool                `json:"closed,omitempty"`
	Renewed      bool                `json:"renewed,omitempty"`    // people have deleted its message once
	WaitsSince   time.Time           `json:"waits_since,omitzero"` // since when it needs an answer
	Brought      time.Time           `json:"brought,omitzero"`     // when people last got it in a new message
	Reminded     int                 `json:"reminded,omitempty"`
	ExtraOptions []Option            `json:"extra_options,omitempty"` // options of each content, below the feature's (see Again)
	Former       *former             `json:"former,omitempty"`        // the message that the card had before Again
	News         []string            `json:"news,omitempty"`          // the last news that it has reported

	unknown  keepjson.Unknown // fields of a later program; they survive a rewrite
	left     message          // the previous message: an edit of it may be running
	offered  string           // the appearance that the outbox may be sending; empty if it sends none
	unposted bool             // the disk refused the post
	forget   time.Time        // when to forget a closed card, if the chat is known to show it closed
}

// former is the message before Again. It keeps its buttons until the new message is in the chat.
type former struct {
	At      outbox.Conversation `json:"at"`
	Message int                 `json:"message"`
	Note    render.Text         `json:"note,omitzero"` // links to the new message
	Alone   bool                `json:"alone,omitempty"`
	Sounds  bool                `json:"sounds,omitempty"`
}

type message struct {
	at outbox.Conversation
	id int
}

type plainRecord record

// MarshalJSON writes the file, with the unknown fields.
func (c record) MarshalJSON() ([]byte, error) { return keepjson.Marshal(plainRecord(c), c.unknown) }

// UnmarshalJSON reads a record and keeps the unknown fields.
func (c *record) UnmarshalJSON(data []byte) (err error) {
	c.unknown, err = keepjson.Unmarshal(data, version, (*plainRecord)(c))
	return err
}

// postName returns the name of the card's post in its place.
func (c record) postName() string {
	return c.ID + "@" + strconv.FormatInt(c.Content.To.ChatID, 10) + "." + strconv.Itoa(c.Content.To.ThreadID)
}

// place returns the place of the message, or its destination.
func (c record) place() outbox.Conversation {
	if c.Message == 0 {
		return c.Content.To
	}
	return c.At
}

// leave separates the card from its message: it needs a new one.
func (c *record) leave() {
	if c.Message != 0 {
		c.left = message{c.At, c.Message}
	}
	c.Message, c.At, c.Drawn = 0, outbox.Conversation{}, false
}

// hasLeft reports whether the card was separated from a message: an edit of it may end only now. A
// new message has a higher id than those before it in its chat.
func (c record) hasLeft(m message) bool {
	return c.left.at == m.at && m.id != unknownID && m.id <= c.left.id
}

// alive reports whether taps count.
func (c record) alive(now time.Time) bool {
	return !c.Closed && (c.Content.Until.IsZero() || now.Before(c.Content.Until))
}

// message returns the desired message; a closed card has no buttons.
func (c record) message() outbox.Message {
	l := c.Content
	m := outbox.Message{Name: c.postName(), To: l.To, Text: l.Text, Picture: l.Picture, Session: l.Session, ReplyTo: l.ReplyTo, Sounds: l.Sounds, Rank: l.Rank}
	if c.Former != nil {
		m.Sounds = c.Former.Sounds
	}
	if c.Closed {
		return m
	}
	if !l.Hint.Blank() {
		m.Text = render.Join(l.Text, render.Plain("\n"), l.Hint)
	}
	b := button{card: c.ID, revision: c.Revision}
	for _, row := range c.rows() {
		var buttons []outbox.Button
		for _, o := range row {
			if strings.TrimSpace(o.Text) == "" { // Telegram would refuse the message
				o.Text = "·"
			}
			b.option = o.digest()
			buttons = append(buttons, outbox.Button{Text: o.Text, Data: b.data(), Style: o.Style})
		}
		m.Buttons = append(m.Buttons, wrapped(buttons)...)
	}
	return m
}

// rows returns the rows of options, the feature's first.
func (c record) rows() [][]Option {
	if len(c.ExtraOptions) == 0 {
		return c.Content.Options
	}
	return append(slices.Clip(c.Content.Options), c.ExtraOptions)
}

// rowWidth is the width of a row's buttons on a phone, in letters; a longer label is cut.
const rowWidth = 36

// wrapped splits the buttons of a row into as many rows as they need to be uncut.
func wrapped(row []outbox.Button) [][]outbox.Button {
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

// appearance identifies everything that people see of the card, and the meaning of its options.
func (c record) appearance() string {
	return c.Revision + digest([]any{c.Content.Text, c.Content.Hint, c.rows()})
}

// isShownBy reports whether a message shows the card's current state: each running post has the
// content at the time of the outbox's call.
func (c record) isShownBy(m outbox.Message) bool {
	now := c.message()
	return digest(now.Text) == digest(m.Text) && digest(now.Buttons) == digest(m.Buttons) && digest(now.Picture) == digest(m.Picture)
}

func (c record) option(digest string) (Option, bool) {
	for _, row := range c.rows() {
		for _, o := range row {
			if o.digest() == digest {
				return o, true
			}
		}
	}
	return Option{}, false
}

var errRecord = errors.New("not a card of this version")

func read(name string, data []byte) (c record, err error) {
	if err := json.Unmarshal(data, &c); err != nil {
		return c, err
	}
	if c.Version != version || c.ID+suffix != name || len(c.ID) != idLength || c.Kind == "" || c.Content.Text.Blank() {
		return c, errRecord
	}
	return c, nil
}

const keepNews = 20 // of a card

func (c *record) noteNews(name string) {
	if name != "" && !slices.Contains(c.News, name) {
		c.News = append(slices.Clone(c.News[max(0, len(c.News)-keepNews+1):]), name)
	}
}

// Reports reports whether a card has stored that its content reports news.
func (b *Board) Reports(news string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.cards {
		if slices.Contains(c.News, news) {
			return true
		}
	}
	return false
}

// putLocked stores a card, on disk first.
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

// noteLocked stores a card in memory, and wakes Run if the card ends before Run's next check.
func (b *Board) noteLocked(c record) {
	b.setLocked(c)
	if end := c.end(); !end.IsZero() && end.Before(b.due) {
		pause.Poke(b.wake)
	}
}

func (b *Board) setLocked(c record) {
	if c.Content.Needs == Answer || b.cards[c.ID].Content.Needs == Answer || c.Message != b.cards[c.ID].Message {
		b.changed()
	}
	b.cards[c.ID] = c
	if c.Closed {
		b.unlistLocked(c)
		return
	}
	if b.open[c.Kind] == nil {
		b.open[c.Kind] = map[string]bool{}
	}
	b.open[c.Kind][c.ID] = true
}

func (b *Board) unlistLocked(c record) {
	if delete(b.open[c.Kind], c.ID); len(b.open[c.Kind]) == 0 {
		delete(b.open, c.Kind)
	}
}

// end returns when Run closes the card, or forgets a closed one; zero for never.
func (c record) end() time.Time {
	if c.Closed {
		return c.forget
	}
	return c.Content.Until
}

func (b *Board) removeLocked(c record) error {
	if err := b.folder.Remove(c.ID + suffix); err != nil {
		return fmt.Errorf("remove card: %w", err)
	}
	delete(b.cards, c.ID)
	b.unlistLocked(c)
	b.changed()
	return nil
}
