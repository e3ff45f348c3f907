package session

import (
	"time"

	"github.com/google/uuid"
)

// Interruption is a turn that was cut short: the agent ended before the turn did, without a
// request.
type Interruption struct {
	At         time.Time `json:"at"`             // when ccbot noticed the end
	Step       string    `json:"step,omitempty"` // the agent's last tool call; empty: none was seen
	TasksDone  int       `json:"tasks_done"`     // of its to-do items
	TasksTotal int       `json:"tasks_total"`
	// Waited means that the agent was waiting for a person. Unseen means that no ccbot saw the
	// agent's last actions, or that its last state cannot be read, so the agent may have been
	// waiting.
	Waited    bool `json:"waited,omitempty"`
	Unseen    bool `json:"unseen,omitempty"`
	TurnsWell int  `json:"turns_well"` // Progress.Well at that time
	// Again means that a prompt had followed the previous interruption, and that no turn has ended
	// well since that interruption.
	Again bool `json:"again,omitempty"`
	// Followed means that a prompt has reached the agent after the interruption.
	Followed bool `json:"followed,omitempty"`
}

// Unfinished returns the interruption after which neither this session nor another session with its
// conversation has continued, or nil.
func (r *Record) Unfinished() *Interruption {
	i := r.Interruption
	if i == nil || i.Followed || r.Progress.TurnsWell > i.TurnsWell {
		return nil
	}
	return i
}

// ContinueID identifies the prompt that continues after the interruption: each call returns the
// same id.
func (r *Record) ContinueID() uuid.UUID {
	if r.Interruption == nil {
		return uuid.Nil
	}
	return uuid.NewSHA1(r.ID, []byte("continue "+r.Interruption.At.UTC().Format(time.RFC3339Nano)))
}
