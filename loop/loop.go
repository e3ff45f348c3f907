package loop

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"ccbot/internal/keepjson"
	"ccbot/internal/process"
	"ccbot/lifecycle/outcome"
	"ccbot/port"
	"ccbot/port/talk"
)

// Version is the schema version of the files that this program writes.
const Version = 1

// Spent is the use of a session since the loop began. Unpriced: the price of an answer is unknown.
type Spent struct {
	Tokens   int64   `json:"tokens"`
	Cost     float64 `json:"cost"`
	Unpriced bool    `json:"unpriced,omitempty"`
}

// Loop is a loop as its file has it.
type Loop struct {
	Version int `json:"version"`
	port.Loop
	// Resumed means that the present attempt was paused: if it has failed, another one follows.
	Resumed bool `json:"resumed,omitempty"`
	// Ran means that the turn ran after that: its failure is a new one.
	Ran bool `json:"ran,omitempty"`
	// Worked means that the agent was seen at work after that. Without it, an idle agent may only not
	// have begun again.
	Worked bool `json:"worked,omitempty"`
	// Tree is the top folder of the work tree, or the session's folder outside of repositories.
	Tree string `json:"tree,omitempty"`
	// Device and Inode are the numbers of the session's folder, taken at the first look at it, and again
	// after a person's /resume: another folder in its place pauses the loop.
	Device uint64 `json:"device,omitempty"`
	Inode  uint64 `json:"inode,omitempty"`
	// Esc is the bound for which Esc was pressed, or was about to be.
	Esc port.LoopReason `json:"esc,omitempty"`
	// Counted is what the session had used when Used was counted last.
	Counted Spent `json:"counted"`
	// Typed is the present attempt's prompt once the inbox has finished it. The inbox forgets it after
	// two days.
	Typed *outcome.Prompt `json:"typed,omitempty"`
	// Said means that the present turn's answer had the stop word, and Missing is what a successful
	// check was not enough without.
	Said    bool   `json:"said,omitempty"`
	Missing string `json:"missing,omitempty"`
	// Before is the last attempt's. A prompt of a person after it pauses the loop.
	Before  *outcome.Prompt `json:"before,omitempty"`
	Prints  []string        `json:"prints,omitempty"` // of the failed checks, the newest last
	Repeats int             `json:"repeats,omitempty"`
	Begun   int             `json:"begun,omitempty"` // how often the check was begun without a result
	// Processes are the check's holder and its descendants that are not proven gone.
	Processes []process.Identity `json:"processes,omitempty"`
	Reported  port.LoopState     `json:"reported,omitempty"` // the last state that was reported to the chat

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
	case !slices.Contains([]port.LoopState{port.LoopRunning, port.LoopWaiting, port.LoopPaused, port.LoopDone, port.LoopExhausted, port.LoopStopped, port.LoopOrphaned}, l.State):
		return fmt.Errorf("state %q is not known", l.State)
	case !slices.Contains([]port.LoopStep{port.LoopAsk, port.LoopTurn, port.LoopCheck}, l.Step):
		return fmt.Errorf("step %q is not known", l.Step)
	case !isPhase(l.Phase):
		return fmt.Errorf("phase %q is not known", l.Phase)
	}
	return nil
}

// unreported reports whether the chat does not know yet that the loop has begun, is paused or has
// ended.
func (l *Loop) unreported() bool {
	return l.State != l.Reported && l.State != port.LoopWaiting && (l.State != port.LoopRunning || l.Reported == "")
}

// Clone returns a deep copy.
func (l Loop) Clone() Loop {
	l.Prints, l.Processes = slices.Clone(l.Prints), slices.Clone(l.Processes)
	l.Typed, l.Before, l.Last, l.Worktree = copied(l.Typed), copied(l.Before), copied(l.Last), copied(l.Worktree)
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
	name := strconv.Itoa(l.Iteration) + "/" + strconv.Itoa(l.Attempt)
	if l.Phase != "" { // a loop of one phase
		name += "/" + string(l.Phase)
	}
	return uuid.NewSHA1(l.ID, []byte(name))
}

// Text is the prompt of the present iteration.
func (l *Loop) Text() string {
	task := l.Task
	if l.Phase == port.PhasePlan {
		return l.headed(task)
	}
	if l.ToDo {
		task += "\n\nKeep a to-do list of this task, and complete each of its items."
	}
	if l.StopWord != "" {
		task += "\n\nWhen all of it is done, write a line with nothing but: " + l.StopWord
	}
	if l.Last == nil || l.Phase == port.PhaseDone {
		return l.headed(task)
	}
	if l.Last.Exit == 0 {
		return l.headed(fmt.Sprintf("The task is not done: the check `%s` succeeds, but %s.\n\nContinue with the task:\n\n%s", l.Check, l.Missing, task))
	}
	ended := fmt.Sprintf("exited with %d", l.Last.Exit)
	if l.Last.Exit < 0 {
		ended = "did not end by itself"
	}
	return l.headed(fmt.Sprintf("The task is not done: the check `%s` %s. The end of its output:\n\n%s\n\nContinue with the task:\n\n%s",
		l.Check, ended, cmp.Or(strings.TrimSpace(l.Last.Tail), "(none)"), task))
}

// missing is what the loop lacks to be done although its check succeeds; empty: nothing.
func (l *Loop) missing(s seen) string {
	switch {
	case l.StopWord != "" && !l.Said:
		return fmt.Sprintf("no line of your answer has only %q", l.StopWord)
	case l.ToDo && !s.Completed:
		return "your to-do list is empty or not completed"
	}
	return ""
}

// says reports whether a line of an answer has nothing but a word.
func says(answer, word string) bool {
	for line := range strings.Lines(answer) {
		if strings.TrimSpace(line) == word {
			return true
		}
	}
	return false
}

// Errors of a request.
var (
	ErrNoBound  = errors.New("a loop needs at least one bound")
	ErrNoTask   = errors.New("the task is blank, or a command: a loop needs a text")
	ErrNoWord   = errors.New("the stop word is one line of text")
	ErrNoCheck  = errors.New("a loop needs a check: the command that decides whether the task is done")
	ErrBadBound = errors.New("a bound is below zero, too high or no number")
)

// Valid returns why a loop cannot begin.
func Valid(q port.LoopRequest) error {
	_, class, ok := talk.Normalise(q.Task)
	switch {
	case !ok || class != talk.ClassPlain:
		return ErrNoTask
	case strings.TrimSpace(q.Check) == "":
		return ErrNoCheck
	case q.StopWord != strings.TrimSpace(q.StopWord) || strings.ContainsAny(q.StopWord, "\r\n"):
		return ErrNoWord
	case !q.Bounds.Possible():
		return ErrBadBound
	case q.Bounds.Empty():
		return ErrNoBound
	}
	return validPhases(q.Phases)
}
