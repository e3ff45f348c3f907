package loop

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/keepjson"
	"ccbot/internal/process"
	"ccbot/lifecycle/outcome"
	"ccbot/port/talk"
)

// Version is the schema version of the files that this program writes.
const Version = 1

// State is the state of a loop.
type State string

// The states. The first three are live.
const (
	Running   State = "running"
	Waiting   State = "waiting"   // for the end of the account's limit
	Paused    State = "paused"    // until a person resumes it
	Done      State = "done"      // the check has succeeded
	Exhausted State = "exhausted" // a bound was reached
	Stopped   State = "stopped"   // by a person
	Orphaned  State = "orphaned"  // its session has ended
)

// Live reports whether the loop has not ended.
func (s State) Live() bool { return s.Moves() || s == Paused }

// Moves reports whether the loop continues by itself.
func (s State) Moves() bool { return s == Running || s == Waiting }

// Phase is the step of an iteration.
type Phase string

// The phases.
const (
	Ask   Phase = "ask"   // the prompt's key is on disk; the prompt may be queued
	Turn  Phase = "turn"  // the prompt is queued, and its turn has not ended
	Check Phase = "check" // the turn has ended; the check runs, or has to run
)

// Reason is the reason of a pause or an end, or the reached bound.
type Reason string

// The reasons.
const (
	ByPerson     Reason = "person"          // a person has asked for the pause or the end
	PersonActed  Reason = "person_acted"    // a person has used the session
	Interrupted  Reason = "interrupted"     // the turn was interrupted, as with Esc in the terminal
	OpenDialog   Reason = "dialog"          // the agent asks for something
	APIError     Reason = "api_error"       // a request failed, or the account is not accepted
	LostSession  Reason = "session_lost"    // its window or its agent is gone
	EndedSession Reason = "session_ended"   // on purpose
	NotProven    Reason = "prompt_unproven" // it is not known whether the agent has the prompt
	NotSent      Reason = "prompt_withdrawn"
	NoEnd        Reason = "turn_end_not_seen" // the agent is idle, and its turn has no end
	NoProgress   Reason = "no_progress"
	CheckStays   Reason = "check_not_ended" // a process of the check is not proven gone
	CheckFailed  Reason = "check_not_run"   // the check could not be started
	BoundTurns   Reason = "max_turns"
	BoundTokens  Reason = "max_tokens"
	BoundCost    Reason = "max_cost"
	BoundMinutes Reason = "max_minutes"
	BoundUntil   Reason = "until"
)

// Bounds end a loop. Zero fields do not count; a loop has at least one bound.
type Bounds struct {
	Turns   int       `json:"turns,omitempty"`
	Tokens  int64     `json:"tokens,omitempty"`
	Cost    float64   `json:"cost,omitempty"` // in dollars, at list prices
	Minutes int       `json:"minutes,omitempty"`
	Until   time.Time `json:"until,omitzero"`
	// NoCost makes an answer without a known price count as free. Without it such an answer counts
	// as more than Cost.
	NoCost bool `json:"no_cost,omitempty"`
}

// Used is the use of a loop.
type Used struct {
	Turns    int     `json:"turns"`
	Tokens   int64   `json:"tokens"`
	Cost     float64 `json:"cost"` // in dollars, at list prices
	Unpriced bool    `json:"unpriced,omitempty"`
}

// Spent is the use of a session since the loop began. Unpriced: the price of an answer is unknown.
type Spent struct {
	Tokens   int64   `json:"tokens"`
	Cost     float64 `json:"cost"`
	Unpriced bool    `json:"unpriced,omitempty"`
}

// Result is the result of a check.
type Result struct {
	Iteration int           `json:"iteration"`
	Exit      int           `json:"exit"` // -1: it was ended by a signal, or took too long
	Tail      string        `json:"tail"` // the end of its output
	At        time.Time     `json:"at"`
	Took      time.Duration `json:"took"`
	// Print identifies the output and the content of the work tree; empty: the content is unknown.
	Print string `json:"print,omitempty"`
}

// Loop is a loop as its file has it.
type Loop struct {
	Version   int       `json:"version"`
	ID        uuid.UUID `json:"id"`
	Session   uuid.UUID `json:"session"`
	Name      string    `json:"name"`              // of the session, when the loop began
	Repo      string    `json:"repo"`              // top folder, or the session's folder
	Feature   string    `json:"feature,omitempty"` // by default the branch
	Task      string    `json:"task"`
	Check     string    `json:"check"` // for /bin/sh
	Bounds    Bounds    `json:"bounds"`
	State     State     `json:"state"`
	Reason    Reason    `json:"reason,omitempty"`
	Detail    string    `json:"detail,omitempty"` // of Reason, in English or as the agent shows it
	Until     time.Time `json:"until,omitzero"`   // the end of Waiting
	Phase     Phase     `json:"phase"`
	Iteration int       `json:"iteration"` // from 1
	Attempt   int       `json:"attempt"`   // of the iteration's prompt, from 1
	// Resumed means that the present attempt was paused: if it has failed, another one follows.
	Resumed bool `json:"resumed,omitempty"`
	// Ran means that the turn ran after that: its failure is a new one.
	Ran bool `json:"ran,omitempty"`
	// Esc is the bound for which Esc was pressed, or was about to be.
	Esc Reason `json:"esc,omitempty"`
	// Counted is what the session had used when Used was counted last.
	Counted Spent `json:"counted"`
	Used    Used  `json:"used"`
	// Typed is the present attempt's prompt once the inbox has finished it. The inbox forgets it after
	// two days.
	Typed *outcome.Prompt `json:"typed,omitempty"`
	// Before is the last attempt's. A prompt of a person after it pauses the loop.
	Before  *outcome.Prompt `json:"before,omitempty"`
	Last    *Result         `json:"last,omitempty"`
	Prints  []string        `json:"prints,omitempty"` // of the failed checks, the newest last
	Repeats int             `json:"repeats,omitempty"`
	Begun   int             `json:"begun,omitempty"` // how often the check was begun without a result
	// Processes are the check's holder and its descendants that are not proven gone.
	Processes []process.Identity `json:"processes,omitempty"`
	Reported  State              `json:"reported,omitempty"` // the last state that was reported to the chat
	CreatedAt time.Time          `json:"created_at"`
	UpdatedAt time.Time          `json:"updated_at"`

	unknown keepjson.Unknown // fields of a later program; they survive a rewrite
}

type plain Loop

// MarshalJSON writes the loop with the unknown fields.
func (l Loop) MarshalJSON() ([]byte, error) { return keepjson.Marshal(plain(l), l.unknown) }

// UnmarshalJSON reads a loop and keeps the unknown fields.
func (l *Loop) UnmarshalJSON(data []byte) error {
	unknown, err := keepjson.Unmarshal(data, Version, (*plain)(l))
	l.unknown = unknown
	return cmp.Or(err, l.check())
}

// check returns why a loop is unusable.
func (l *Loop) check() error {
	switch {
	case l.ID == uuid.Nil || l.Session == uuid.Nil:
		return errors.New("the id or the session is missing")
	case !slices.Contains([]State{Running, Waiting, Paused, Done, Exhausted, Stopped, Orphaned}, l.State):
		return fmt.Errorf("state %q is not known", l.State)
	case !slices.Contains([]Phase{Ask, Turn, Check}, l.Phase):
		return fmt.Errorf("phase %q is not known", l.Phase)
	}
	return nil
}

// unreported reports whether the chat does not know yet that the loop has begun, is paused or has
// ended.
func (l *Loop) unreported() bool {
	return l.State != l.Reported && l.State != Waiting && (l.State != Running || l.Reported == "")
}

// Clone returns a deep copy.
func (l Loop) Clone() Loop {
	l.Prints, l.Processes = slices.Clone(l.Prints), slices.Clone(l.Processes)
	l.Typed, l.Before, l.Last = copied(l.Typed), copied(l.Before), copied(l.Last)
	return l
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	value := *p
	return &value
}

// Key identifies the prompt of the present attempt.
func (l *Loop) Key() uuid.UUID {
	return uuid.NewSHA1(l.ID, []byte(strconv.Itoa(l.Iteration)+"/"+strconv.Itoa(l.Attempt)))
}

// Text is the prompt of the present iteration.
func (l *Loop) Text() string {
	if l.Last == nil {
		return l.Task
	}
	ended := fmt.Sprintf("exited with %d", l.Last.Exit)
	if l.Last.Exit < 0 {
		ended = "did not end by itself"
	}
	return fmt.Sprintf("The task is not done: the check `%s` %s. The end of its output:\n\n%s\n\nContinue with the task:\n\n%s",
		l.Check, ended, cmp.Or(strings.TrimSpace(l.Last.Tail), "(none)"), l.Task)
}

// Errors of Request.
var (
	ErrNoBound = errors.New("a loop needs at least one bound")
	ErrNoTask  = errors.New("the task is blank, or a command: a loop needs a text")
	ErrNoCheck = errors.New("a loop needs a check: the command that decides whether the task is done")
)

// Request is the loop that a person wants.
type Request struct {
	Key     uuid.UUID `json:"key"` // of the request: it starts one loop
	Session uuid.UUID `json:"session_id"`
	Feature string    `json:"feature,omitempty"`
	Task    string    `json:"task"`
	Check   string    `json:"check"`
	Bounds  Bounds    `json:"bounds"`
}

// Valid returns why a loop cannot begin.
func (q Request) Valid() error {
	_, class, ok := talk.Normalise(q.Task)
	b := q.Bounds
	switch {
	case !ok || class != talk.ClassPlain:
		return ErrNoTask
	case strings.TrimSpace(q.Check) == "":
		return ErrNoCheck
	case b.Turns <= 0 && b.Tokens <= 0 && b.Cost <= 0 && b.Minutes <= 0 && b.Until.IsZero():
		return ErrNoBound
	}
	return nil
}
