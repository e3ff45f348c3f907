package ask

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/address"
	"ccbot/internal/keepjson"
	"ccbot/port/talk"
)

type (
	// Request is one that a hook waits with.
	Request = talk.Request
	// decision is what the hook is told.
	decision = talk.Decision
)

// version is the newest version of a request's file that this program knows.
const version = 1

// Stage says who may still do something about a request.
type Stage string

// The stages of a request. From open a tap leads to sent, leave to away and Return back. The
// transcript leads from each to over, which is the last one.
const (
	StageOpen Stage = "open" // a person may decide
	StageSent Stage = "sent" // a decision is on its way
	StageAway Stage = "away" // its hook does not wait any more: the transcript will say
	StageOver Stage = "over" // known what became of it
)

// State is one request as it stands in the chat. It is a value: what it points to never changes.
type State struct {
	Version      int                  `json:"version"`
	Request      Request              `json:"request"`
	Conversation address.Conversation `json:"conversation"`
	Stage        Stage                `json:"state"`
	Since        time.Time            `json:"since"` // when it came to that stage
	Decision     *decision            `json:"decision,omitempty"`
	By           int64                `json:"by,omitempty"`        // who decided
	Given        time.Time            `json:"given,omitzero"`      // when a hook took the decision
	Desk         bool                 `json:"desk,omitempty"`      // it is away for good
	AllShown     bool                 `json:"all_shown,omitempty"` // all that All gives was delivered
	Why          *Writer              `json:"why,omitempty"`       // whose next text is for this request
	Missed       *Writer              `json:"missed,omitempty"`    // whose Why was ended, and when
	Caught       string               `json:"caught,omitempty"`    // inbox key of the text that Missed was about
	Progress     Progress             `json:"progress,omitzero"`
	Outcome      Outcome              `json:"outcome,omitzero"`
	Reason       string               `json:"reason,omitempty"`  // of a denial, in a person's words
	Prompt       string               `json:"prompt,omitempty"`  // inbox key of the text that decided
	Text         int                  `json:"text,omitempty"`    // message of that text
	Project      []talk.Answerer      `json:"project,omitempty"` // what else may answer

	unknown keepjson.Unknown
}

// Writer is a person who writes a text for a request: the reason of a denial or, for a question, an
// answer that is none of the options.
type Writer struct {
	By     int64     `json:"by"`
	At     time.Time `json:"at,omitzero"`      // since when
	Answer bool      `json:"answer,omitempty"` // of the question that Progress is at
	// Current is the current session of the conversation since the wait began. If another one is chosen, the person's
	// next text is meant for that one.
	Current uuid.UUID `json:"current,omitzero"`
}

const (
	// maxWhy is how long a text is waited for: what a person writes later is meant for something else.
	maxWhy = 10 * time.Minute
	// maxMissed is how long a text may still come that was being written when something else ended
	// the wait, if it does not come within maxWhy. It is not meant for an agent as a prompt.
	maxMissed = 2 * time.Minute
)

// Progress is how far the questions of AskUserQuestion are answered.
type Progress struct {
	Answers []string `json:"answers,omitempty"` // of the questions so far, in their order
	Chosen  []int    `json:"chosen,omitempty"`  // marked options of the present one
}

// What is what became of a request.
type What string

// What became of a request, see Outcome.
const (
	Allowed     What = "allowed" // or answered
	Denied      What = "denied"
	Interrupted What = "interrupted" // Esc
	Ended       What = "ended"       // the session ended first
	Unknown     What = "unknown"     // the transcript never said
)

// Outcome is what the transcript says became of a request.
type Outcome struct {
	What What   `json:"what,omitempty"`
	Chat bool   `json:"chat,omitempty"` // by this decision; otherwise in the terminal
	Hook bool   `json:"hook,omitempty"` // by another hook
	Late bool   `json:"late,omitempty"` // this decision came too late
	Said string `json:"said,omitempty"` // the answer that was given at the desk, as the agent was told, or the reason of a denial
}

// New returns the State of a request that is to be shown in a conversation.
func New(q Request, to address.Conversation) State {
	return State{Version: version, Request: q, Conversation: to, Stage: StageOpen, Since: q.Asked}
}

// IsOver reports whether the request has ended. Its State no longer changes.
func (s State) IsOver() bool { return s.Stage == StageOver }

// Same reports whether q is this request after a redial, and not another one under its id. The file
// holds the same JSON, escaped in its own way.
func (s State) Same(q Request) bool {
	own := s.Request
	x, errA := json.Marshal(own.Input)
	y, errB := json.Marshal(q.Input)
	return own.ID == q.ID && own.Session == q.Session && own.Agent == q.Agent && own.Hook == q.Hook &&
		own.Tool == q.Tool && errA == nil && errB == nil && bytes.Equal(x, y)
}

// check returns why a state is unusable.
func (s State) check() error {
	if err := s.Request.Check(); err != nil {
		return err
	}
	switch {
	case !slices.Contains([]Stage{StageOpen, StageSent, StageAway, StageOver}, s.Stage):
		return fmt.Errorf("unknown state %q", s.Stage)
	case s.Decision == nil && (s.Stage == StageSent || s.Outcome.Chat):
		return fmt.Errorf("state %s without a decision", s.Stage)
	case s.Conversation.ChatID == 0:
		return errors.New("no conversation")
	}
	return nil
}

// plain has State's fields without its methods.
type plain State

// MarshalJSON writes the state, with the fields that this program does not know.
func (s State) MarshalJSON() ([]byte, error) { return keepjson.Marshal(plain(s), s.unknown) }

// UnmarshalJSON reads a state and keeps the fields that this program does not know.
func (s *State) UnmarshalJSON(data []byte) error {
	unknown, err := keepjson.Unmarshal(data, version, (*plain)(s))
	s.unknown = unknown
	return cmp.Or(err, s.check())
}
