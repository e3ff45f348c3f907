package card

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
)

// Need names what a message needs from people; empty for nothing.
type Need string

// Needs of a message.
const (
	Answer   Need = "answer"   // an agent waits for an answer
	Decision Need = "decision" // a message of a person is undecided
)

// Needs counts the needs of the open cards about a session.
type Needs struct{ Answers, Decisions int }

// Content is the desired state of a message. A text that does not fit is cut.
type Content struct {
	To      outbox.Conversation `json:"to"`
	Text    render.Text         `json:"text"`
	Options [][]Option          `json:"options,omitempty"` // rows of buttons; empty rows are removed
	// Hint is shown below the text while the card is open, because it is about the options.
	Hint render.Text `json:"hint,omitzero"`
	// Picture is above the text. A card with a picture keeps one until its end.
	Picture *outbox.Picture `json:"picture,omitempty"`
	Session uuid.UUID       `json:"session,omitzero"` // the session it belongs to
	ReplyTo int             `json:"reply_to,omitempty"`
	Sounds  bool            `json:"sounds,omitempty"` // its first message, never an edit
	Needs   Need            `json:"needs,omitempty"`  // from people
	// Undecided is the number of messages of a Decision, if there are several.
	Undecided  int         `json:"undecided,omitempty"`
	WaitsSince time.Time   `json:"waits_since,omitzero"` // since when it needs an answer; zero: since the card exists
	Rank       outbox.Rank `json:"rank,omitempty"`
	// Until, if set, is the time at which the card closes.
	Until time.Time `json:"until,omitzero"`
	// Renew sends the message again after people delete it, RenewOnce only the first time.
	// Otherwise the card is then forgotten.
	Renew     bool `json:"renew,omitempty"`
	RenewOnce bool `json:"renew_once,omitempty"`
	// Means, if set, identifies the thing that the options are about, such as a turn: a tap counts as
	// long as a content with the same Means offers its option to that person, despite another text,
	// payload, label or place, so that frequent redraws do not make taps stale.
	Means string `json:"means,omitempty"`
	// News names the news that this content reports to the end: see Board.Reports.
	News string `json:"-"`
}

// Option is a button: its label, and the value that the feature gets from a tap.
type Option struct {
	Text  string       `json:"text"`
	Value string       `json:"value"`
	Style outbox.Style `json:"style,omitempty"`
	For   int64        `json:"for,omitempty"` // the only person whose taps count; 0: any
	// Session is the option's session, if it is not the card's (see Board.Forget).
	Session uuid.UUID `json:"session,omitzero"`
	// Was is the digest of a Forgotten option before, which its button in the chat has.
	Was string `json:"was,omitempty"`
}

// digest identifies an option among those of a card.
func (o Option) digest() string {
	return cmp.Or(o.Was, digest([]any{o.Value, o.For})[:optionLength])
}

// Forgotten is the value of an option whose session is forgotten.
const Forgotten = "forgotten"

// without returns the content after a session is forgotten, and whether an option was about it.
func (c Content) without(session uuid.UUID) (next Content, named bool) {
	rows := make([][]Option, len(c.Options))
	for i, row := range c.Options {
		rows[i] = slices.Clone(row)
		for j := range rows[i] {
			if o := &rows[i][j]; o.Session == session {
				o.Value, o.Session, o.Was, named = Forgotten, uuid.Nil, o.digest(), true
			}
		}
	}
	c.Options = rows
	return c, named
}

// Part is a part of a list: the entries from First to before Last, of Count in total.
type Part struct{ Page, First, Last, Count int }

// PartOf returns a page of a list with count entries, size per page. After the end it is the last.
func PartOf(count, size, page int) Part {
	page = min(max(page, 0), max(count-1, 0)/size)
	return Part{Page: page, First: page * size, Last: min((page+1)*size, count), Count: count}
}

// Turns returns the arrows to the neighboring pages; to is as in [Turns].
func (p Part) Turns(to func(page int) Option) []Option {
	return Turns(p.Page, p.Last < p.Count, to)
}

// Turns returns the arrows of a list's page: back if there is a page before it, forward if there
// are more. to returns the option that leads to a page, without its label.
func Turns(page int, more bool, to func(page int) Option) (arrows []Option) {
	if page > 0 {
		arrows = append(arrows, to(page-1))
		arrows[0].Text = "←"
	}
	if more {
		arrows = append(arrows, to(page+1))
		arrows[len(arrows)-1].Text = "→"
	}
	return arrows
}

// fitting returns the content as it is stored: cut to one message, without empty rows, and with
// times as they are read from disk.
func (c Content) fitting() Content {
	room := c.limit()
	if !c.Hint.Blank() {
		room -= c.Hint.Length() + 1
	}
	c.Text = c.Text.Begin(room)
	c.Options = Filled(c.Options)
	c.Until, c.WaitsSince = c.Until.UTC().Round(0), c.WaitsSince.UTC().Round(0)
	return c
}

// Filled returns the rows that are not empty.
func Filled(rows [][]Option) [][]Option {
	return slices.DeleteFunc(slices.Clone(rows), func(row []Option) bool { return len(row) == 0 })
}

// limit is the length of the longest text.
func (c Content) limit() int {
	if c.Picture != nil {
		return outbox.MaxCaption
	}
	return render.Limit
}

// revisionOf identifies what is drawn and what its options mean. If Means is set it identifies the
// card whatever it shows, because then a button alone tells which option it is.
func revisionOf(l Content, payload json.RawMessage) string {
	if l.Means != "" {
		return digest(struct{ Means string }{l.Means})
	}
	return digest(struct {
		Text    render.Text
		Options [][]Option
		Payload json.RawMessage
		Picture *outbox.Picture `json:",omitempty"`
		Hint    render.Text     `json:",omitzero"`
	}{l.Text, l.Options, payload, l.Picture, l.Hint})
}

func digest(v any) string {
	data, _ := json.Marshal(v) // strings, numbers and valid JSON: it cannot fail
	sum := sha256.Sum256(data)
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// Lengths of a button's parts; it has 45 of the 64 bytes.
const (
	idLength       = 13
	revisionLength = 22
	optionLength   = 8
)

// button is the data of a button.
type button struct {
	card     string
	revision string
	option   string // see Option.digest
}

func (b button) data() string { return b.card + ":" + b.revision + ":" + b.option }

// parse reads the data of a button. An option of another format, which an earlier ccbot wrote, is one
// that the card does not have.
func parse(data string) (button, bool) {
	parts := strings.Split(data, ":")
	if len(parts) != 3 || len(parts[0]) != idLength || len(parts[1]) != revisionLength {
		return button{}, false
	}
	return button{card: parts[0], revision: parts[1], option: parts[2]}, true
}
