package ask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"ccbot/internal/address"
	"ccbot/internal/keepjson"
)

// Version is the newest version of a card's file that this program knows.
const Version = 1

// ErrNewer is returned for a card that a newer program wrote.
var ErrNewer = keepjson.ErrNewer

// State says who may still do something about a card.
type State string

// The states of a card. From open a tap leads to sent, and Leave to away; a decision whose hook is
// lost goes from sent to away, too. Return leads from away back to where it was. The transcript
// leads from each to over, and there it stays.
const (
	StateOpen State = "open" // a person may decide
	StateSent State = "sent" // a decision is on its way
	StateAway State = "away" // its hook does not wait any more: the transcript will say
	StateOver State = "over" // known what became of it
)

// Card is one request as it stands in the chat.
type Card struct {
	Version      int                  `json:"version"`
	Request      Request              `json:"request"`
	Conversation address.Conversation `json:"conversation"`
	State        State                `json:"state"`
	Decision     *Decision            `json:"decision,omitempty"`
	By           int64                `json:"by,omitempty"` // who decided
	DecidedAt    time.Time            `json:"decided_at,omitzero"`
	Given        time.Time            `json:"given,omitzero"`      // when a hook took the decision
	Away         Cause                `json:"away,omitempty"`      // why the card is away
	Stopped      bool                 `json:"stopped,omitempty"`   // somebody interrupted the agent from the chat while it was open
	AllShown     bool                 `json:"all_shown,omitempty"` // everything that All gives was delivered
	AwayAt       time.Time            `json:"away_at,omitzero"`    // since when it is away
	Why          *Why                 `json:"why,omitempty"`       // whose next text belongs to this card
	Unheard      bool                 `json:"unheard,omitempty"`   // a Why was given up
	Missed       Missed               `json:"missed,omitzero"`     // whose Why ended under their fingers
	Progress     Progress             `json:"progress,omitzero"`
	Outcome      Outcome              `json:"outcome,omitzero"`
	Over         time.Time            `json:"over,omitzero"`     // when it came to be over
	Prompt       string               `json:"prompt,omitempty"`  // inbox key of the text that became the reason
	Text         int                  `json:"text,omitempty"`    // message of that text
	Project      []Answerer           `json:"project,omitempty"` // what else may answer, as the project's settings were

	unknown keepjson.Unknown
}

// Cause is why nobody waits for a card's decision any more.
type Cause string

// The causes; none is known of an older card.
const (
	HookLeft   Cause = "hook"   // its hook is gone, or did not come back
	WaitedOut  Cause = "waited" // its hook waited as long as hooks may
	DialogGone Cause = "dialog" // the terminal does not ask any more
	ToDesk     Cause = "desk"   // a person, or an unwilling Telegram, left it to the desk
)

// Why waits for a text: the reason of a denial or, for a question, an answer that is none of the options.
type Why struct {
	By     int64     `json:"by"`
	Name   string    `json:"name,omitempty"`   // of that person, where others read the conversation too
	At     time.Time `json:"at,omitzero"`      // since when
	Answer bool      `json:"answer,omitempty"` // of the question that Progress is at
}

// maxWhy is how long a text is waited for: what a person writes later is meant for something else.
const maxWhy = 10 * time.Minute

// Missed is a person who was writing for a card when something else ended it. What they send is not
// meant for the agent as a prompt.
type Missed struct {
	By int64     `json:"by,omitempty"`
	At time.Time `json:"at,omitzero"`
}

// maxMissed is how long a text that was being written may still come.
const maxMissed = 2 * time.Minute

// Progress is how far the questions of AskUserQuestion are answered.
type Progress struct {
	Answers []string `json:"answers,omitempty"` // of the questions so far, in their order
	Chosen  []int    `json:"chosen,omitempty"`  // marked options of the present one, if it takes several
}

// IsZero is for the encoding: nothing is answered or marked.
func (p Progress) IsZero() bool { return len(p.Answers) == 0 && len(p.Chosen) == 0 }

// What is what became of a request.
type What string

// What became of a request, see Outcome.
const (
	Allowed     What = "allowed"
	Denied      What = "denied"
	Answered    What = "answered"    // a question
	Interrupted What = "interrupted" // Esc
	Expired     What = "expired"     // its hook waited as long as hooks may
	Ended       What = "ended"       // the session ended first
	Unknown     What = "unknown"     // the transcript never said
)

// Outcome is what the transcript says became of a request.
type Outcome struct {
	What What   `json:"what,omitempty"`
	Chat bool   `json:"chat,omitempty"` // by the decision of this card; else by somebody at the desk
	Hook bool   `json:"hook,omitempty"` // by another hook
	Late bool   `json:"late,omitempty"` // a decision of this card came too late
	Said string `json:"said,omitempty"` // the answer that was given at the desk, as the agent was told
}

// New is the card of a request that is to be shown in a conversation.
func New(q Request, to address.Conversation) Card {
	return Card{Version: Version, Request: q, Conversation: to, State: StateOpen}
}

// IsOver says that the card will not change any more.
func (c Card) IsOver() bool { return c.State == StateOver }

// Same says that a request which came back is the one of this card: a redial, not another one under its id.
func (c Card) Same(q Request) bool {
	own := c.Request
	return own.ID == q.ID && own.Session == q.Session && own.Agent == q.Agent && own.Hook == q.Hook &&
		own.Tool == q.Tool && sameJSON(own.Input, q.Input)
}

// sameJSON compares as the card's file does: it holds the same JSON, escaped in its own way.
func sameJSON(a, b json.RawMessage) bool {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}

// check says what makes a card unusable.
func (c Card) check() error {
	if err := c.Request.Check(); err != nil {
		return err
	}
	switch c.State {
	case StateOpen, StateAway, StateOver:
	case StateSent:
		if c.Decision == nil {
			return fmt.Errorf("state %s without a decision", c.State)
		}
	default:
		return fmt.Errorf("unknown state %q", c.State)
	}
	if c.Conversation.ChatID == 0 {
		return fmt.Errorf("no conversation")
	}
	return nil
}

// plain has Card's fields without its methods.
type plain Card

// MarshalJSON writes the card together with the fields it did not know when it was read.
func (c Card) MarshalJSON() ([]byte, error) { return keepjson.Marshal(plain(c), c.unknown) }

// UnmarshalJSON reads a card and keeps the fields it does not know.
func (c *Card) UnmarshalJSON(data []byte) error {
	var p plain
	unknown, err := keepjson.Unmarshal(data, Version, &p)
	if err != nil {
		return err
	}
	p.unknown = unknown
	*c = Card(p)
	return c.check()
}
