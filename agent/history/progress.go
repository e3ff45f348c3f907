package history

import (
	"time"

	"github.com/google/uuid"

	"ccbot/port"
	"ccbot/port/talk"
)

// Progress is the work so far, as a transcript shows it up to an offset.
type Progress struct {
	Path       string    `json:"path"`
	From       int64     `json:"from,omitempty"` // the offset of its beginning; 0: of the transcript
	Offset     int64     `json:"offset"`
	Turns      int       `json:"turns"`                 // that have ended
	LastTurnAt time.Time `json:"last_turn_at,omitzero"` // the end of the last turn
	// Well counts the turns that were neither interrupted nor ended by an error, also in the
	// conversations before this one.
	TurnsWell int    `json:"turns_well,omitempty"`
	OpenTurn  *Turn  `json:"open_turn,omitempty"` // the turn that has not ended; nil: none
	Model     string `json:"model,omitempty"`     // id, of the last answer
	// Requested is that model as --model takes it. It can differ from the answer's id: that id
	// lacks a "[1m]", and with a gateway it may be another model.
	RequestedModel string `json:"requested_model,omitempty"`
	// Failed is the failure of the last turn, or the reason why a prompt began none. The zero
	// value: there was no failure, or the agent has continued since.
	Failed         talk.Failure `json:"failed,omitzero"`
	Pursues        bool         `json:"pursues,omitempty"`         // a goal: the agent begins its next turn by itself
	PermissionMode string       `json:"permission_mode,omitempty"` // the agent's, the last that it noted
	Tasks          []port.Task  `json:"tasks,omitempty"`           // the agent's own to-do items
	Tokens         port.Tokens  `json:"tokens"`
	// Id of the last message with counted tokens: each of its lines repeats them.
	LastMessage string `json:"last_message,omitempty"`
	// GoesOn is the last thing that the transcript says, if the agent has moved the conversation into
	// its own background. The zero value: it has not.
	GoesOn GoesOn `json:"goes_on,omitzero"`
}

// GoesOn names the conversation in which one goes on, in the agent's own background.
type GoesOn struct {
	At           time.Time `json:"at,omitzero"`
	Conversation uuid.UUID `json:"conversation"`
	Attach       string    `json:"attach"` // the command that shows it
}

// Turn is a turn that has begun and not ended.
type Turn struct {
	At time.Time `json:"at,omitzero"` // of its newest line
	// Its last tool call, in one line; calls for to-do items do not count; empty: none yet.
	Step string `json:"step,omitempty"`
}
