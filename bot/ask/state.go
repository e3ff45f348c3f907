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

// Request is the request of a waiting hook.
type Request = talk.Request

// version is the newest file version that this program knows.
const version = 1

// Stage is the stage of a request.
type Stage string

// Stages of a request. A tap leads from open to sent, leave from open to away, and Return back. The
// transcript leads from each to over, the last one.
const (
	StageOpen  Stage = "open" // a person may decide
	StageSent  Stage = "sent" // a decision is on its way
	StageAway  Stage = "away" // its hook no longer waits: the transcript will show the outcome
	StageEnded Stage = "over" // the outcome is known
)

// State is a request in the chat. It is a value: the data it points to never changes.
type State struct {
	Version      int                  `json:"version"`
	Request      Request              `json:"request"`
	Conversation address.Conversation `json:"conversation"`
	Stage        Stage                `json:"stage"`
	Since        time.Time            `json:"since"` // when the stage began
	Answer       *talk.Answer         `json:"answer,omitempty"`
	By           int64                `json:"by,omitempty"`          // the person who decided
	Given        time.Time            `json:"given,omitzero"`        // when a hook accepted the decision
	InTerminal   bool                 `json:"in_terminal,omitempty"` // it is away for good
	AllShown     bool                 `json:"all_shown,omitempty"`   // everything that All returns was delivered
	Why          *Writer              `json:"why,omitempty"`         // whose next text is for this request
	Missed       *Writer              `json:"missed,omitempty"`      // whose Why was ended, and when
	Caught       string               `json:"caught,omitempty"`      // inbox key of the text that Missed was about
	Progress     Progress             `json:"progress,omitzero"`
	Outcome      Outcome              `json:"outcome,omitzero"`
	Reason       string               `json:"reason,omitempty"`      // of a denial, in a person's words
	Explanation  string               `json:"explanation,omitempty"` // what the agent wrote before the call, if its message has it
	Prompt       string               `json:"prompt,omitempty"`      // inbox key of the text that decided
	Text         int                  `json:"text,omitempty"`        // message of that text
	TextIn       address.Conversation `json:"text_in,omitzero"`      // its place; zero: the request's
	Project      []talk.Answerer      `json:"project,omitempty"`     // other programs that may answer

	unknown keepjson.Unknown
}

// Writer is a person who writes the reason of a denial, or a free answer to a question.
type Writer struct {
	By     int64     `json:"by"`
	At     time.Time `json:"at,omitzero"`      // since when
	Answer bool      `json:"answer,omitempty"` // of the question that Progress is at
	// Current is the current session of the conversation since the wait began. If another one is
	// chosen, the person's next text is meant for that one.
	Current uuid.UUID `json:"current,omitzero"`
	// In is the place of the card that was tapped: a closed topic's card is shown outside of it.
	In address.Conversation `json:"in,omitzero"`
}

// textIn returns the place of the text that decided.
func (s State) textIn() address.Conversation { return cmp.Or(s.TextIn, s.Conversation) }

// isReadIn reports whether a person who writes for the request writes in a place.
func (s State) isReadIn(to address.Conversation) bool {
	return s.Conversation == to || s.Why != nil && s.Why.In == to || s.Missed != nil && s.Missed.In == to
}

const (
	// maxWhy is the timeout of the wait for a text: later texts are meant for something else.
	maxWhy = 10 * time.Minute
	// maxMissed is the time in which a text may still arrive whose wait was ended, if it does not
	// come within maxWhy. It is not meant as a prompt.
	maxMissed = 2 * time.Minute
)

// Progress holds the answers to a question's pages so far.
type Progress struct {
	Answers []string `json:"answers,omitempty"` // of the questions so far, in order
	Chosen  []int    `json:"chosen,omitempty"`  // marked options of the current one
}

// A What is the result of a request.
type What string

// Results of a request, see Outcome.
const (
	Allowed     What = "allowed" // or answered
	Denied      What = "denied"
	Interrupted What = "interrupted" // Esc
	Ended       What = "ended"       // the session ended first
	Unknown     What = "unknown"     // not in the transcript
)

// Outcome is the outcome of a request in the transcript.
type Outcome struct {
	What  What   `json:"what,omitempty"`
	Chat  bool   `json:"chat,omitempty"`  // by this decision; otherwise in the terminal
	Hook  bool   `json:"hook,omitempty"`  // by another hook
	Late  bool   `json:"late,omitempty"`  // this decision came too late
	Reply string `json:"reply,omitempty"` // the answer given in the terminal, or the reason of a denial
}

// New returns the State of a new request in a conversation.
func New(q Request, to address.Conversation) State {
	return State{Version: version, Request: q, Conversation: to, Stage: StageOpen, Since: q.RequestedAt}
}

// HasEnded reports whether the request has ended. Its State no longer changes.
func (s State) HasEnded() bool { return s.Stage == StageEnded }

// isQuestion reports whether a request asks questions that buttons can answer.
func (s State) isQuestion() bool {
	return s.Request.Ask.Kind == talk.AskQuestion && len(s.Request.Ask.Pages) > 0
}

// asksSeveral reports whether a request has several questions, which are skipped together.
func (s State) asksSeveral() bool { return len(s.Request.Ask.Pages) > 1 }

// Same reports whether q is this request after a redial, and not another one with its id. The file
// holds the same JSON with other escapes.
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
	case !slices.Contains([]Stage{StageOpen, StageSent, StageAway, StageEnded}, s.Stage):
		return fmt.Errorf("unknown state %q", s.Stage)
	case s.Answer == nil && (s.Stage == StageSent || s.Outcome.Chat):
		return fmt.Errorf("state %s without an answer", s.Stage)
	case s.Request.Ask.Kind == "":
		return errors.New("nothing to show")
	case s.Conversation.ChatID == 0:
		return errors.New("no conversation")
	}
	return nil
}

// plain has State's fields without its methods.
type plain State

// MarshalJSON writes the state, with the unknown fields.
func (s State) MarshalJSON() ([]byte, error) { return keepjson.Marshal(plain(s), s.unknown) }

// UnmarshalJSON reads a state and keeps the unknown fields.
func (s *State) UnmarshalJSON(data []byte) error {
	unknown, err := keepjson.Unmarshal(data, version, (*plain)(s))
	s.unknown = unknown
	return cmp.Or(err, s.check())
}
