package prompts

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/address"
	"ccbot/internal/keepjson"
	"ccbot/port/news"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// ErrNoPrompt is returned for a prompt that was typed or is finished, or that the engine does not
// have.
var ErrNoPrompt error = &refusal.Error{Code: refusal.NotFound, Err: fs.ErrNotExist}

// Version is the schema version of the files that this program writes.
const Version = 1

// Number orders the offers and commands of a chat. It is never used again.
type Number int64

// State is the progress of an unfinished prompt.
type State string

// The states.
const (
	Held     State = "held"     // not typed
	Typing   State = "typing"   // the mark is on disk; the text may be in the box, or submitted
	Unproven State = "unproven" // no proof of its arrival was found; a person decides
)

// Outcome is the way in which a prompt was finished. An unfinished prompt has none.
type Outcome string

// The outcomes.
const (
	Delivered Outcome = "delivered" // there is proof that the agent has it
	Returned  Outcome = "returned"  // a stop has taken it back, and the chat asks about it
	Dropped   Outcome = "dropped"   // a command of the chat has ended it
)

// outcomes are all outcomes: each is the suffix of a tombstone's name.
var outcomes = []Outcome{Delivered, Returned, Dropped}

// Prompt is one text on its way to an agent.
type Prompt struct {
	Version int              `json:"version"`
	Key     string           `json:"key"`
	Number  Number           `json:"number"`           // of the last offer or command that was carried out
	Session uuid.UUID        `json:"session,omitzero"` // that has it in its queue
	Text    string           `json:"text,omitempty"`   // normalised
	Class   talk.PromptClass `json:"class,omitempty"`  // how its receipt is proven
	State   State            `json:"state"`
	// To is the place of the turn that it begins; zero: where its session is shown then.
	To      address.Conversation `json:"to,omitzero"`
	Asks    bool                 `json:"asks,omitempty"` // see talk.Offer
	Mark    *talk.Mark           `json:"mark,omitempty"`
	Since   time.Time            `json:"since,omitzero"`    // when the chat received it
	Waits   []news.Wait          `json:"waits,omitempty"`   // the reported reasons of its wait
	Repeats bool                 `json:"repeats,omitempty"` // pasted a second time, because the first paste was missing

	unknown keepjson.Unknown // fields of a later program; they survive a rewrite
}

// plain has Prompt's fields without its methods, for the standard encoding.
type plain Prompt

// MarshalJSON writes the prompt with the unknown fields.
func (p Prompt) MarshalJSON() ([]byte, error) { return keepjson.Marshal(plain(p), p.unknown) }

// UnmarshalJSON reads a prompt and keeps the unknown fields.
func (p *Prompt) UnmarshalJSON(data []byte) error {
	unknown, err := keepjson.Unmarshal(data, Version, (*plain)(p))
	p.unknown = unknown
	return cmp.Or(err, p.check())
}

// check returns why a prompt is unusable.
func (p *Prompt) check() error {
	switch {
	case p.Key == "":
		return fmt.Errorf("key is missing")
	case !slices.Contains([]State{Held, Typing, Unproven}, p.State):
		return fmt.Errorf("state %q is not known", p.State)
	}
	return nil
}

// Tells reports whether a prompt, which may have an outcome, has the progress of its last offer.
// last is the number of that offer; 0: a person was asked about the prompt after all its offers.
func (p Prompt) Tells(as Outcome, last Number) bool {
	return as == "" || as == Delivered && 0 < last && last <= p.Number
}

// clone returns a deep copy: typing changes a mark before that is saved.
func (p Prompt) clone() Prompt {
	p.Waits = slices.Clone(p.Waits)
	if p.Mark != nil {
		mark := *p.Mark
		p.Mark = &mark
	}
	return p
}
