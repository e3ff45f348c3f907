package card

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
)

// Need is what a message asks of people; empty: nothing.
type Need string

// What a message may ask for.
const (
	Answer   Need = "answer"   // an agent has an open question
	Decision Need = "decision" // a message of a person is undecided
)

// Needs counts what the open cards about a session ask of people.
type Needs struct{ Answers, Decisions int }

// Look is what a message should look like. A text that does not fit one message is cut.
type Look struct {
	To      outbox.Conversation `json:"to"`
	Text    render.Text         `json:"text"`
	Options [][]Option          `json:"options,omitempty"` // rows of buttons; an empty row is none
	// Hint is shown below the text until the card is closed, because it is about the options.
	Hint render.Text `json:"hint,omitzero"`
	// Picture stands above the text. A card that has one has one until its end.
	Picture *outbox.Picture `json:"picture,omitempty"`
	Session uuid.UUID       `json:"session,omitzero"` // whose message it is
	ReplyTo int             `json:"reply_to,omitempty"`
	Sounds  bool            `json:"sounds,omitempty"` // its first message, never an edit
	Needs   Need            `json:"needs,omitempty"`  // what the message asks of people
	// Undecided is how many messages a Decision is about, if there are several.
	Undecided int         `json:"undecided,omitempty"`
	Asked     time.Time   `json:"asked,omitzero"` // since when it needs an answer; zero: since the card is there
	Rank      outbox.Rank `json:"rank,omitempty"`
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
	// Session is the one that the option is about, if the card is about no session or about another one (see Board.Forget).
	Session uuid.UUID `json:"session,omitzero"`
}

// Forgotten is the value of an option that was about a session that is forgotten.
const Forgotten = "forgotten"

// without returns the look after a session is forgotten, and whether an option was about the session.
func (l Look) without(session uuid.UUID) (next Look, named bool) {
	rows := make([][]Option, len(l.Options))
	for i, row := range l.Options {
		rows[i] = slices.Clone(row)
		for j := range rows[i] {
			if o := &rows[i][j]; o.Session == session {
				o.Value, o.Session, named = Forgotten, uuid.Nil, true
			}
		}
	}
	l.Options = rows
	return l, named
}

// Part is the part of a list that one message shows: the entries from First to before Last, of Count in all.
type Part struct{ Page, First, Last, Count int }

// PartOf is a page of a list with count entries, size of them on a page. Where the list has no such page
// any more, it is the last page.
func PartOf(count, size, page int) Part {
	page = min(max(page, 0), max(count-1, 0)/size)
	return Part{Page: page, First: page * size, Last: min((page+1)*size, count), Count: count}
}

// Turns are the arrows to the pages before and after the part; to is as in [Turns].
func (part Part) Turns(to func(page int) Option) []Option {
	return Turns(part.Page, part.Last < part.Count, to)
}

// Turns are the arrows that turn the pages of a list: back where there is a page before this one, and on
// where there is more. to is the option that leads to a page, without its words.
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

// fitting is the look as it is kept: cut to one message, without empty rows, and the same when it is read from the disk.
func (l Look) fitting() Look {
	room := l.limit()
	if !l.Hint.Blank() {
		room -= l.Hint.Length() + 1
	}
	l.Text = l.Text.Begin(room)
	l.Options = Filled(l.Options)
	l.Until, l.Asked = l.Until.UTC().Round(0), l.Asked.UTC().Round(0)
	return l
}

// Filled are the rows that have an option: a row without one is none.
func Filled(rows [][]Option) [][]Option {
	return slices.DeleteFunc(slices.Clone(rows), func(row []Option) bool { return len(row) == 0 })
}

// limit is the length of the longest text.
func (l Look) limit() int {
	if l.Picture != nil {
		return outbox.MaxCaption
	}
	return render.Limit
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
		Hint    render.Text     `json:",omitzero"`
	}{l.Text, l.Options, payload, l.Picture, l.Hint})
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
