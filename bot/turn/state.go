package turn

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/talk"
)

// state is all that a card shows of one turn, and is kept with it.
type state struct {
	Session   uuid.UUID `json:"session"`
	Prompt    string    `json:"prompt,omitempty"`    // key of the prompt that began it; empty: it began in the terminal
	Command   bool      `json:"command,omitempty"`   // that prompt is a command, which may begin no turn at all
	Submitted bool      `json:"submitted,omitempty"` // the transcript has the prompt
	Alone     bool      `json:"alone,omitempty"`     // the agent has begun it, at the end of what it runs in the background
	Began     time.Time `json:"began"`

	From     talk.Cursor `json:"from"`       // no item of the turn is before it
	ReadUpTo talk.Cursor `json:"read_up_to"` // all items before it are here
	At       time.Time   `json:"at"`         // of the last item

	Now   talk.Activity `json:"now"`
	Since time.Time     `json:"since"`

	Steps  []step `json:"steps,omitempty"`  // the last ones, and the last subagents
	Count  int    `json:"count,omitempty"`  // of all steps
	Failed int    `json:"failed,omitempty"` // of these

	Todo     *todo          `json:"todo,omitempty"` // nil: this turn has not touched the list
	Model    string         `json:"model,omitempty"`
	Edits    bool           `json:"edits,omitempty"`    // the agent makes edits without asking, as it noted last
	Context  float64        `json:"context"`            // used, 0 to 100; -1: not known
	Paid     float64        `json:"paid"`               // the session's cost before the turn; -1: not known
	Snapshot *folders.Since `json:"snapshot,omitempty"` // the work tree before the turn; nil: not known
	waits    []string       // the first lines of the prompts that wait

	Responded bool        `json:"responded,omitempty"` // the transcript has words of the agent, or a line that ends the turn
	Page      int         `json:"page,omitempty"`      // of its steps, which its card shows; 0: none
	Full      bool        `json:"full,omitempty"`      // it has ended because the conversation no longer fits into the model's context
	Again     bool        `json:"again,omitempty"`     // it has ended with the error of the turn before: something in the conversation causes it
	Shown     bool        `json:"shown,omitempty"`     // its card was in the chat, or on its way there
	End       talk.Ending `json:"end,omitempty"`
	Ended     time.Time   `json:"ended,omitzero"`
	Cost      float64     `json:"cost,omitempty"`
	Files     int         `json:"files,omitempty"`
	Added     int         `json:"added,omitempty"`
	Removed   int         `json:"removed,omitempty"`
}

// cut is the ending of a turn that ended with its session.
const cut talk.Ending = "cut"

// step is one call of a tool.
type step struct {
	ID     string    `json:"id"`
	Line   string    `json:"line"`
	Agent  bool      `json:"agent,omitempty"` // it is a subagent
	Began  time.Time `json:"began"`
	Ended  time.Time `json:"ended,omitzero"`
	Failed bool      `json:"failed,omitempty"`
}

// todo is the progress of the agent's to-do list.
type todo struct {
	Done int    `json:"done"`
	All  int    `json:"all"`
	Item string `json:"item,omitempty"` // that is being done
}

// shownSteps is the number of steps, and of subagents, that a card shows.
const shownSteps = 5

// listTools keep the to-do list, and are shown as that.
var listTools = []string{"TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet"}

// typed is the turn that a prompt begins.
func typed(session uuid.UUID, p talk.Prompt, now time.Time) *state {
	s := &state{Session: session, Prompt: p.Key, Command: p.Class == talk.ClassCommand, Began: now, Context: -1, Paid: -1}
	if m := p.Mark; m != nil {
		s.Began, s.ReadUpTo = m.At, talk.Cursor{Path: m.Path, Offset: m.Offset}
	}
	s.From, s.At = s.ReadUpTo, s.Began
	return s
}

// begun is the turn that an item begins.
func begun(session uuid.UUID, item talk.Item, now time.Time) *state {
	if !item.Time.IsZero() {
		now = item.Time
	}
	return &state{Session: session, Began: now, At: now, From: item.At, ReadUpTo: item.At, Context: -1, Paid: -1,
		Alone: item.Kind != talk.UserPrompt}
}

// isOf reports whether a turn belongs to the prompt of next, which may be reported again, or later
// than the transcript. The prompt is noted then.
func (s *state) isOf(next *state) bool {
	switch {
	case s == nil:
		return false
	case s.Prompt == "" && !s.Began.Before(next.Began) && !precedes(s.From, next.From):
		s.Prompt = next.Prompt
	}
	return s.Prompt == next.Prompt
}

// isStuck reports whether another message does not help, but a button of its card does.
func (s *state) isStuck(r port.Session) bool { return (s.Full || s.Again) && r.Can.Compact }

// precedes reports whether an item is before a place in the same transcript.
func precedes(at, place talk.Cursor) bool {
	return at.Path == place.Path && at.Precedes(place)
}

// knows reports whether an item is in the state, or of an earlier turn.
func (s *state) knows(item talk.Item) bool {
	if item.At.Path == s.ReadUpTo.Path {
		return precedes(item.At, s.ReadUpTo)
	}
	return s.ReadUpTo.Path != "" && !item.Time.IsZero() && item.Time.Before(s.At) // of an earlier transcript
}

// isNext reports whether an item is the prompt of another turn.
func (s *state) isNext(item talk.Item) bool {
	return item.Kind == talk.UserPrompt && s.Submitted && item.Begins && !s.knows(item)
}

// take adds an item. A known item changes nothing. It is not called if isNext holds.
func (s *state) take(item talk.Item, now time.Time) {
	if s.End != "" || s.knows(item) {
		return
	}
	s.ReadUpTo = item.Next
	if !item.Time.IsZero() {
		now = item.Time
	}
	if item.Kind == talk.TaskEnded && item.Tool != nil {
		s.result(*item.Tool, now)
	}
	if s.precedes(item) || item.Sidechain || item.Meta {
		return
	}
	if now.After(s.At) {
		s.At = now
	}
	s.Submitted = s.Submitted || item.Begins
	s.Responded = s.Responded || item.Kind == talk.Text || item.Ends != ""
	switch {
	case item.Kind == talk.ToolUse && item.Tool != nil:
		s.call(*item.Tool, now)
	case item.Kind == talk.ToolResult && item.Tool != nil:
		s.result(*item.Tool, now)
	case item.Ends != "":
		s.Full, s.Again = item.Cause == talk.FailedContext, item.Cause == talk.FailedAgain
		s.finish(item.Ends, now)
	}
}

func (s *state) call(t talk.Tool, at time.Time) {
	if slices.Contains(listTools, t.Name) {
		return
	}
	s.Count++
	one := step{ID: t.ID, Line: t.Step, Agent: t.Name == "Task" || t.Name == "Agent", Began: at}
	if one.Agent {
		one.Line = strings.TrimSpace(strings.TrimPrefix(t.Step, t.Name))
	}
	s.Steps = append(slices.Clone(s.Steps), one)
	same := func(other step) bool { return other.Agent == one.Agent }
	if count := len(slices.DeleteFunc(slices.Clone(s.Steps), func(o step) bool { return !same(o) })); count > shownSteps {
		i := slices.IndexFunc(s.Steps, same)
		s.Steps = slices.Delete(s.Steps, i, i+1)
	}
}

func (s *state) result(t talk.Tool, at time.Time) {
	wrong := t.Failed || t.Denied
	if wrong {
		s.Failed++
	}
	i := slices.IndexFunc(s.Steps, func(one step) bool { return one.ID == t.ID })
	if i < 0 {
		return
	}
	if t.Background && !wrong {
		return // it has only been started
	}
	s.Steps = slices.Clone(s.Steps)
	s.Steps[i].Ended, s.Steps[i].Failed = at, wrong
}

// setActivity sets the agent's noted activity. A note from before the turn does not count.
func (s *state) setActivity(now talk.Activity, since time.Time) {
	if !since.After(s.Began) {
		now, since = talk.Activity{Phase: talk.PhaseWorking}, s.Began
	}
	s.Now, s.Since = now, since
}

// runs reports whether a turn may run while an agent does this.
func runs(now talk.Activity) bool {
	return now.Works() || now.Phase.Waiting() || now.Phase == talk.PhaseUnknown
}

// precedes reports whether an item is older than the turn: a copy begins with all of the original.
func (s *state) precedes(item talk.Item) bool {
	return !item.Time.IsZero() && item.Time.Before(s.Began)
}

// fate returns how and when the turn ended according to its session; how is empty if it has not
// ended.
func (s *state) fate(r port.Session, now time.Time) (how talk.Ending, at time.Time) {
	switch {
	case r.StartedAt.After(s.Began): // the session has ended, and is back
		return cut, s.At
	case !r.State.Live() && r.EndedAt.After(s.Began):
		return cut, r.EndedAt
	case !r.State.Live():
		return cut, now
	case runs(s.Now):
		return "", now
	case s.Now.Phase == talk.PhaseIdle:
		return talk.EndedTurn, now
	}
	return talk.FailedTurn, now
}

// follow ends the turn because another one of its session has begun. at is when it ended, if that is not known better.
func (s *state) follow(r port.Session, at time.Time) {
	how, at := s.fate(r, at)
	if how != cut {
		how = talk.EndedTurn
	}
	s.finish(how, at)
}

func (s *state) finish(how talk.Ending, at time.Time) {
	if s.End == "" {
		s.End, s.Ended = how, at
	}
}

// spend updates the state from the agent's status line and to-do list.
func (s *state) spend(w port.Work, list bool) {
	s.Model = cmp.Or(w.Model, s.Model)
	if w.Permissions != "" {
		s.Edits = w.Permissions == string(port.ModeAcceptEdits)
	}
	if u := w.Usage; u != nil {
		s.Model = cmp.Or(u.Model, s.Model)
		s.Context = u.Context
		if s.Paid < 0 && s.End == "" {
			s.Paid = u.Cost
		}
		if s.Paid >= 0 {
			s.Cost = max(0, u.Cost-s.Paid) // after a /clear it begins at zero
		}
	}
	if !list {
		return
	}
	s.Todo = &todo{All: len(w.Tasks)}
	for _, t := range w.Tasks {
		switch t.Status {
		case "completed":
			s.Todo.Done++
		case "in_progress":
			s.Todo.Item = t.Text
		}
	}
}
