package session

import (
	"time"

	"github.com/google/uuid"
)

// Interruption is a turn that was cut short: its agent ended before the turn did, and nobody had
// asked for that end.
type Interruption struct {
	At    time.Time `json:"at"`             // when the end was noticed
	Step  string    `json:"step,omitempty"` // the agent's last call of a tool; empty: none was seen
	Done  int       `json:"tasks_done"`     // of its to-do items
	Tasks int       `json:"tasks_total"`
	// Waited says that the agent waited for a person, Unseen that it did something which no ccbot
	// saw: it may have waited.
	Waited bool `json:"waited,omitempty"`
	Unseen bool `json:"unseen,omitempty"`
	Well   int  `json:"turns_well"` // Progress.Well then
	// Again says that a prompt had followed the interruption before, and that no turn has ended
	// well since.
	Again bool `json:"again,omitempty"`
	// Followed says that a prompt has reached the agent since.
	Followed bool `json:"followed,omitempty"`
}

// Unfinished is the interruption after which nobody has gone on with the session, nor another
// session with its conversation; nil: none.
func (r *Record) Unfinished() *Interruption {
	i := r.Interruption
	if i == nil || i.Followed || r.Progress.Well > i.Well || r.HandedOver() {
		return nil
	}
	return i
}

// ContinueID names the prompt that goes on after the interruption: it is the same whenever it is
// asked for.
func (r *Record) ContinueID() uuid.UUID {
	if r.Interruption == nil {
		return uuid.Nil
	}
	return uuid.NewSHA1(r.ID, []byte("continue "+r.Interruption.At.UTC().Format(time.RFC3339Nano)))
}
