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

// Version is the schema version of the entries that this program writes.
const Version = 1

// State is the progress of an entry. A finished entry has no state; Load and List omit it.
type State string

// States of an entry. The intake hands on only accepted entries; an entry in another state belongs
// to the code that saved it, until Finish.
const (
	Accepted State = "accepted" // on disk, not handled
	Held     State = "held"     // a prompt that was offered to an engine, see Number
	Typing   State = "typing"   // only shown: the engine types it, see talk.Mark
	Unproven State = "unproven" // only shown: typed without proof of receipt, a person decides
	Asked    State = "asked"    // a prompt that needs a person's confirmation; in no queue
	Barred   State = "barred"   // a prompt of a person who is no longer allowed; in no queue
)

// IsOffered reports whether an engine has the prompt, or is about to have it.
func (s State) IsOffered() bool { return s == Held || s == Typing || s == Unproven }

// Waits reports whether an entry may still be typed and no part of it was typed yet.
func (s State) Waits() bool { return s == Held || s == Asked }

// Entry is one update, or a prompt from another source, with its progress.
type Entry struct {
	Version              int             `json:"version"`
	Key                  string          `json:"key"`              // update id in decimal, or p-<uuid>
	Update               json.RawMessage `json:"update,omitempty"` // as Telegram sent it; none for p- keys
	Received             time.Time       `json:"received"`
	State                State           `json:"state"`
	Session              uuid.UUID       `json:"session,omitzero"`  // id of the port.Session it is for
	Machine              string          `json:"machine,omitempty"` // of the engine of its last offer; empty: the chat's own
	address.Conversation `json:"conversation"`
	MessageID            int                  `json:"message_id,omitempty"`
	Place                address.Conversation `json:"place,omitzero"`      // of the turn that it begins; zero: where its session is shown then
	Asks                 bool                 `json:"asks,omitempty"`      // see talk.Offer
	Number               int64                `json:"number,omitempty"`    // of its last offer to an engine; never used again
	Owned                bool                 `json:"owned,omitempty"`     // another machine has answered that offer
	Cancelled            bool                 `json:"cancelled,omitempty"` // a person has taken it back, which its machine does not know yet
	By                   int64                `json:"by,omitempty"`        // who asked for it, if it has no Update; 0: a person at the desk, or a plan with a file of its own
	Refers               bool                 `json:"refers,omitempty"`    // the message of Update sends the one that it answers
	Speaker              string               `json:"speaker,omitempty"`   // the name of its writer, of which its agent is told; empty: one person speaks there
	Text                 string               `json:"text,omitempty"`      // the normalized prompt, as its writer has it
	Class                talk.PromptClass     `json:"class,omitempty"`     // how its receipt is proven
	Typing               *talk.Mark           `json:"typing,omitempty"`
	Aside                *Aside               `json:"aside,omitempty"`    // in Asked: nobody has sent it to the agent yet
	Repeated             bool                 `json:"repeated,omitempty"` // pasted a second time, because the first paste was missing

	Stale    bool        `json:"stale,omitempty"`    // it waited while ccbot was away for too long, and no person was asked yet
	Reported []news.Wait `json:"reported,omitempty"` // the reported reasons of its wait

	Sent     time.Time `json:"sent,omitzero"`     // when the person sent it, by Telegram's clock
	Answered time.Time `json:"answered,omitzero"` // date of the answer with it, by Telegram's clock
	Moment   string    `json:"moment,omitempty"`  // when it was received, by Clock

	Tries  int      `json:"tries,omitempty"`  // starts of ccbot that found it accepted: it may end the program
	Spoken string   `json:"spoken,omitempty"` // transcript of a recording, to be confirmed by a person before it is typed
	Files  []string `json:"files,omitempty"`  // the paths of its files on the agent's machine, or only their names if there is no session or an earlier version brought them

	Album string            `json:"album,omitempty"` // Telegram's media_group_id
	Rest  []json.RawMessage `json:"rest,omitempty"`  // the updates of the other messages of the album or cut text
	Late  bool              `json:"late,omitempty"`  // came after its album was handed on
	// ReportedEdit identifies the last edit of the message for which the chat was notified that it has
	// no effect.
	ReportedEdit string `json:"reported_edit,omitempty"`

	unknown keepjson.Unknown // fields of a later program; they survive a rewrite
}

// Aside describes a text that people wrote while the agent asked something, and that may be for each
// other. They are asked about it when the request has an outcome.
type Aside struct {
	Request string `json:"request"`
	Replies bool   `json:"replies,omitempty"` // it answers the request's message, and may become the reason of a denial
}

// plain has Entry's fields without its methods, for the standard encoding.
type plain Entry

// MarshalJSON writes the entry with the unknown fields.
func (e Entry) MarshalJSON() ([]byte, error) { return keepjson.Marshal(plain(e), e.unknown) }

// UnmarshalJSON reads an entry and keeps the unknown fields.
func (e *Entry) UnmarshalJSON(data []byte) error {
	unknown, err := keepjson.Unmarshal(data, Version, (*plain)(e))
	e.unknown = unknown
	return cmp.Or(err, e.check())
}

// check returns why an entry is unusable.
func (e *Entry) check() error {
	switch {
	case !validKey(e.Key):
		return fmt.Errorf("key %q is neither an update id nor p-<uuid>", e.Key)
	case !slices.Contains([]State{Accepted, Held, Typing, Unproven, Asked, Barred}, e.State):
		return fmt.Errorf("state %q is not known", e.State)
	case e.Received.IsZero():
		return fmt.Errorf("received is missing")
	}
	return nil
}

// UpdateKey returns the key of the update with an id.
func UpdateKey(updateID int64) string { return strconv.FormatInt(updateID, 10) }

// updateID parses an update's key. Only the spelling of UpdateKey is valid, so a key is also a safe
// file name.
func updateID(key string) (id int64, ok bool) {
	id, err := strconv.ParseInt(key, 10, 64)
	return id, err == nil && id >= 0 && UpdateKey(id) == key
}

func validKey(key string) bool {
	if _, ok := updateID(key); ok {
		return true
	}
	text, ok := strings.CutPrefix(key, talk.PromptPrefix)
	if !ok {
		return false
	}
	id, err := uuid.Parse(text)
	return err == nil && id.String() == text
}

// Typed returns the prompt as it is typed: with a line above it that names its writer, if several
// people speak to the agent.
func (e Entry) Typed() string { return talk.Spoken(e.Speaker, e.Text, e.Class) }

// inOrder sorts updates by id, then prompts by time.
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
