package transcript

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/agent/claude/presence"
	"ccbot/agent/history"
	"ccbot/agent/jsonl"
	"ccbot/internal/clip"
	"ccbot/internal/lazyregexp"
	"ccbot/port"
	"ccbot/port/talk"
)

const (
	// maxTasks is the number of to-do items that are kept; if there are more, finished items are
	// removed first, then the oldest.
	maxTasks = 100
)

// tally sums up the lines of a transcript.
type tally struct {
	*history.Progress
	seen usageSeen
	open map[string]taskCall // calls of task tools that have no result yet, by their ids
	held *history.Progress   // the progress before the first of these calls
}

// taskCall is a call of one of the tools that keep the agent's to-do items.
type taskCall struct {
	tool  string
	input taskInput
}

// taskInput is the input of any of these tools.
type taskInput struct {
	Todos           []struct{ Content, Status string } // TodoWrite
	TaskID          string                             // TaskUpdate
	Subject, Status string                             // TaskCreate, TaskUpdate
}

// taskResult is the content of the line with the result of such a call.
type taskResult struct {
	Success *bool                                  // TaskUpdate
	TaskID  string                                 // TaskUpdate
	Task    struct{ ID, Subject string }           // TaskCreate
	Tasks   []struct{ ID, Subject, Status string } // TaskList
}

// newTally continues a progress.
func newTally(p *history.Progress) *tally {
	t := &tally{Progress: p, open: make(map[string]taskCall)}
	t.seen.first(p.LastMessage)
	return t
}

// end is called after the lines read. If a call has no result yet, which it may never get, the
// result is the progress before that call; only the mode, the open turn and a failure are current.
func (t *tally) end() {
	if t.held != nil {
		held := *t.held
		held.PermissionMode, held.OpenTurn, held.Failed = t.PermissionMode, t.OpenTurn, t.Failed
		*t.Progress = held
	}
}

// marks are texts that every line that matters contains, as long as no call waits for its result.
// The long lines, with files that tools have read and output that they have printed, contain none
// of them.
var marks = [][]byte{[]byte(`"usage"`), []byte(`"permissionMode"`), []byte(`"turn_duration"`), []byte(interrupted),
	[]byte(`"blocked_by_hook"`), []byte(`>/login<`), []byte(`"continued-in"`)}

func (t *tally) take(line []byte) {
	has := func(mark []byte) bool { return bytes.Contains(line, mark) }
	if len(t.open) == 0 && !slices.ContainsFunc(marks, has) || isBulk(line) {
		return
	}
	l, ok := readEntry(line)
	if !ok {
		return // a broken line must not stop a session
	}
	before := *t.Progress
	t.count(l)
	if l.IsSidechain {
		return
	}
	if l.PermissionMode != "" {
		t.PermissionMode = clip.Runes(l.PermissionMode, jsonl.MaxText)
	}
	switch id, err := uuid.Parse(l.ContinuedInSessionID); {
	case l.Type == "assistant":
		t.answered(l)
	case l.Type == "continued-in" && err == nil:
		t.GoesOn = history.GoesOn{At: l.time(), Conversation: id, Attach: presence.Attach + id.String()[:8]}
	}
	for _, item := range l.items() {
		l.stamp(&item)
		t.see(item, l.ToolUseResult)
	}
	if t.held == nil && len(t.open) > 0 {
		t.held = &before
	}
}

// count adds the tokens of an answer. An answer has several lines, one per block; they stand close
// together, and each repeats the same tokens.
func (t *tally) count(l *entry) {
	u := l.Message.Usage
	if u == nil || !t.seen.first(l.answer()) {
		return
	}
	t.LastMessage = clip.Runes(l.answer(), jsonl.MaxText)
	t.Tokens.Input += count(u.Input)
	t.Tokens.CacheCreation += count(u.CacheCreation)
	t.Tokens.CacheRead += count(u.CacheRead)
	t.Tokens.Output += count(u.Output)
}

// synthetic replaces a model's id in a message of Claude Code itself.
const synthetic = "<synthetic>"

func (t *tally) answered(l *entry) {
	if model := l.Message.Model; model != "" && model != synthetic {
		t.Model = clip.Runes(model, jsonl.MaxText)
		if t.RequestedModel = l.RequestedModel; len(t.RequestedModel) > jsonl.MaxText {
			t.RequestedModel = "" // a shortened id is not an id
		}
	}
	t.Failed = talk.Failure{}
	t.goesOn(l.time(), "")
}

// see takes one item of a line. result is the line's description of a tool's result.
func (t *tally) see(item jsonl.Item, result span) {
	switch item.Kind {
	case jsonl.UserPrompt:
		if item.Time.Before(t.LastTurnAt) {
			return // 2.1.128 writes the first prompt of a file after the error that has ended its turn
		}
		t.release() // a call that still has no result never gets one
		t.OpenTurn, t.Failed, t.GoesOn = &history.Turn{At: item.Time}, talk.Failure{}, history.GoesOn{}
	case jsonl.LocalCommand:
		if item.Command == "/login" {
			t.Failed = talk.Failure{}
		}
	case jsonl.ToolUse:
		if !slices.Contains(taskTools, item.Tool.Name) {
			t.goesOn(item.Time, item.Tool.Step())
			break
		}
		c := taskCall{tool: item.Tool.Name}
		_ = decode(item.Tool.Input, &c.input) // it is sound: the line was checked as a whole
		t.open[item.Tool.ID] = c
	case jsonl.ToolResult:
		t.result(item, result)
	case jsonl.TurnEnd:
		if t.Failed != (talk.Failure{}) {
			return // 2.1.128 writes it also after the error that has ended the turn
		}
		t.TurnsWell++
	}
	if item.Failure != (talk.Failure{}) {
		t.Failed = item.Failure
	}
	if item.Ends() != jsonl.Runs {
		t.Turns++
		t.LastTurnAt, t.OpenTurn = item.Time, nil
		t.release()
	}
}

// goesOn notes a line of a turn, perhaps its first. It makes a new Turn, because an earlier
// Progress may hold the old one.
func (t *tally) goesOn(at time.Time, step string) {
	if t.OpenTurn != nil {
		step = cmp.Or(step, t.OpenTurn.Step)
	}
	t.OpenTurn = &history.Turn{At: at, Step: step}
}

// taskTools keep the agent's to-do items.
var taskTools = []string{"TodoWrite", "TaskCreate", "TaskUpdate", "TaskList"}

// release stops waiting for results.
func (t *tally) release() {
	clear(t.open)
	t.held = nil
}

func (t *tally) result(item jsonl.Item, raw span) {
	c, ok := t.open[item.Tool.ID]
	if !ok {
		return
	}
	if !item.Tool.IsError {
		t.apply(c, item.Text, raw)
	}
	if delete(t.open, item.Tool.ID); len(t.open) == 0 {
		t.release()
	}
}

// createdTask matches the beginning of the result of a TaskCreate.
var createdTask = lazyregexp.New(`^Task #(\S{1,20}) `)

// apply changes the to-do items as a successful call has changed them. text is the call's result.
func (t *tally) apply(c taskCall, text string, raw span) {
	var said taskResult
	_ = decode(raw, &said) // raw is empty or valid: the line was checked as a whole
	switch c.tool {
	case "TodoWrite":
		t.Tasks = nil
		for _, todo := range c.input.Todos {
			t.add("", todo.Content, todo.Status)
		}
	case "TaskCreate":
		id := said.Task.ID
		if m := createdTask.FindStringSubmatch(text); id == "" && m != nil {
			id = m[1]
		}
		t.add(id, cmp.Or(said.Task.Subject, c.input.Subject), "pending")
	case "TaskUpdate":
		if said.Success == nil || *said.Success {
			t.update(cmp.Or(said.TaskID, c.input.TaskID), c.input)
		}
	case "TaskList":
		if said.Tasks != nil { // the result lists all of them
			t.Tasks = nil
			for _, task := range said.Tasks {
				t.add(task.ID, task.Subject, task.Status)
			}
		}
	}
}

// add makes a new slice each time, because an earlier Progress may hold the old one.
func (t *tally) add(id, text, status string) {
	t.Tasks = append(slices.Clone(t.Tasks), port.Task{ID: clip.Runes(id, jsonl.MaxText), Text: clip.Runes(text, jsonl.MaxText), Status: clip.Runes(status, jsonl.MaxText)})
	if len(t.Tasks) > maxTasks {
		oldest := max(0, slices.IndexFunc(t.Tasks, func(k port.Task) bool { return k.Status == "completed" }))
		t.Tasks = slices.Delete(t.Tasks, oldest, oldest+1)
	}
}

func (t *tally) update(id string, in taskInput) {
	i := slices.IndexFunc(t.Tasks, func(k port.Task) bool { return k.ID != "" && k.ID == id })
	if i < 0 {
		return
	}
	t.Tasks = slices.Clone(t.Tasks)
	if in.Status == "deleted" {
		t.Tasks = slices.Delete(t.Tasks, i, i+1)
		return
	}
	t.Tasks[i].Text = cmp.Or(clip.Runes(in.Subject, jsonl.MaxText), t.Tasks[i].Text)
	t.Tasks[i].Status = cmp.Or(clip.Runes(in.Status, jsonl.MaxText), t.Tasks[i].Status)
}

// usageSeen remembers the last message ids. The lines of one message are close together, so a few
// ids are enough for a session of any length.
type usageSeen []string

const usageKept = 256

// first reports whether id was not seen yet, and remembers it.
func (u *usageSeen) first(id string) bool {
	if slices.Contains(*u, id) {
		return false
	}
	*u = append((*u)[max(0, len(*u)+1-usageKept):], id)
	return true
}
