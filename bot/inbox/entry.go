package inbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/address"
	"ccbot/internal/keepjson"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// Version is the schema version of an entry that this program writes.
const Version = 1

// State says how far an entry has come. A finished entry has no state: Load and List do not give
// it.
type State string

// The states of an entry. The intake hands on accepted entries only; an entry in another state
// belongs to the code that saved it, until Finish.
const (
	Accepted State = "accepted" // on disk, not handled
	Held     State = "held"     // a prompt that waits to be typed
	Typing   State = "typing"   // a prompt being typed, see talk.Mark
	Unproven State = "unproven" // typed, and no proof that it arrived: never typed again unasked
	Asked    State = "asked"    // a prompt that is not typed before a person has said so; in no queue
)

// Waits reports whether an entry may still be typed and nothing of it was typed yet.
func (s State) Waits() bool { return s == Held || s == Asked }

// Entry is one update, or one prompt that came another way, and how far it has come.
type Entry struct {
	Version              int             `json:"version"`
	Key                  string          `json:"key"`              // update id in decimal, or p-<uuid>
	Update               json.RawMessage `json:"update,omitempty"` // as Telegram sent it; none for p- keys
	Received             time.Time       `json:"received"`
	State                State           `json:"state"`
	Session              uuid.UUID       `json:"session,omitzero"` // id of the port.Session it is for
	address.Conversation `json:"conversation"`
	MessageID            int              `json:"message_id,omitempty"`
	Text                 string           `json:"text,omitempty"`  // the normalised prompt
	Class                talk.PromptClass `json:"class,omitempty"` // how its receipt is proven
	Typing               *talk.Mark       `json:"typing,omitempty"`
	Repeated             bool             `json:"repeated,omitempty"` // pasted a second time, because nothing of it was there

	Aged bool        `json:"aged,omitempty"` // it waited while ccbot was away for too long; no person was asked yet
	Told []news.Wait `json:"told,omitempty"` // why it waits, as far as the chat was told

	Sent     time.Time `json:"sent,omitzero"`     // when the person sent it, by Telegram's clock
	Answered time.Time `json:"answered,omitzero"` // the date of the answer that brought it, by Telegram's clock
	Moment   string    `json:"moment,omitempty"`  // when it was received, by Clock

	Tries  int      `json:"tries,omitempty"`  // starts of ccbot that found it accepted: it may be what ends the program
	Spoken string   `json:"spoken,omitempty"` // written down of a recording: a person is to see it before it is typed
	Files  []string `json:"files,omitempty"`  // names below .ccbot-inbox that came with it

	Album string            `json:"album,omitempty"` // Telegram's media_group_id
	Rest  []json.RawMessage `json:"rest,omitempty"`  // the updates of the other messages of the album, or of the cut text
	Late  bool              `json:"late,omitempty"`  // came after its album was handed on
	// ToldEdit names the last edit of the message for which the chat was told that the edit changes
	// nothing.
	ToldEdit string `json:"told_edit,omitempty"`

	unknown keepjson.Unknown // fields of a later program; they survive a rewrite
}

// plain has Entry's fields without its methods, so that the standard encoding does the work.
type plain Entry

// MarshalJSON writes the entry together with the fields it did not know when it was read.
func (e Entry) MarshalJSON() ([]byte, error) { return keepjson.Marshal(plain(e), e.unknown) }

// UnmarshalJSON reads an entry and keeps the fields it does not know.
func (e *Entry) UnmarshalJSON(data []byte) error {
	unknown, err := keepjson.Unmarshal(data, Version, (*plain)(e))
	e.unknown = unknown
	return cmp.Or(err, e.check())
}

// check returns the reason why an entry cannot be used.
func (e *Entry) check() error {
	switch {
	case !validKey(e.Key):
		return fmt.Errorf("key %q is neither an update id nor p-<uuid>", e.Key)
	case !slices.Contains([]State{Accepted, Held, Typing, Unproven, Asked}, e.State):
		return fmt.Errorf("state %q is not known", e.State)
	case e.Received.IsZero():
		return fmt.Errorf("received is missing")
	}
	return nil
}

const promptPrefix = "p-" // of the key of a prompt that was no update

// PromptKey is the key of the prompt with this id, which was no update.
func PromptKey(id uuid.UUID) string { return promptPrefix + id.String() }

// UpdateKey is the key of the update with this id.
func UpdateKey(updateID int64) string { return strconv.FormatInt(updateID, 10) }

// updateID reads an update's key. Only the spelling that UpdateKey makes is valid, so a key is also
// a safe file name.
func updateID(key string) (id int64, ok bool) {
	id, err := strconv.ParseInt(key, 10, 64)
	return id, err == nil && id >= 0 && UpdateKey(id) == key
}

func validKey(key string) bool {
	if _, ok := updateID(key); ok {
		return true
	}
	text, ok := strings.CutPrefix(key, promptPrefix)
	if !ok {
		return false
	}
	id, err := uuid.Parse(text)
	return err == nil && id.String() == text
}

// inOrder sorts updates by id and puts prompts behind them by time.
func inOrder(a, b Entry) int {
	idA, isA := updateID(a.Key)
	idB, isB := updateID(b.Key)
	switch {
	case isA && isB:
		return cmp.Compare(idA, idB)
	case isA:
		return -1
	case isB:
		return 1
	}
	return cmp.Or(a.Received.Compare(b.Received), strings.Compare(a.Key, b.Key))
}
