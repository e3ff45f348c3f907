package rollout

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/agent/history"
	"ccbot/agent/jsonl"
	"ccbot/port/talk"
)

// Grew looks for an item: Codex also writes settings when a conversation is only opened, and its goal is
// paused then.
func (f Files) Grew(path string, offset int64) (grew bool, err error) {
	err = f.Each(talk.Cursor{Path: path, Offset: offset}, true, func(i jsonl.Item) bool {
		grew = i.Kind != jsonl.GoalPaused
		return !grew
	})
	return grew, err
}

// receiptSpan is the end of a rollout in which a receipt is searched for.
const receiptSpan = 64 << 20

// HasReceipt looks for the prompt with an id. Codex notes the id of a client with the prompt, but a
// compaction has none.
func (f Files) HasReceipt(conversation uuid.UUID, of agent.Sent) (has bool, err error) {
	path, err := f.Find(conversation)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // the file is made at the first prompt
	}
	if err != nil {
		return false, err
	}
	end, err := f.End(path)
	if err != nil {
		return false, err
	}
	begin := talk.Cursor{Path: path, Offset: max(0, end.Offset-receiptSpan)}
	if strings.TrimSpace(of.Text) == talk.Compact {
		return f.compacts(begin, of.At)
	}
	_, err = f.Lines(begin, true, func(text []byte) bool {
		if !bytes.Contains(text, []byte(of.ID.String())) {
			return true
		}
		items, _ := parse(text) // a broken line proves nothing
		for _, i := range items {
			has = has || i.Kind == jsonl.UserPrompt && i.MessageID == of.ID.String()
		}
		return !has
	})
	return has, err
}

// compactMarks are in the lines that say what a turn is.
var compactMarks = [][]byte{mark("task_started"), mark("UserMessage"), mark("AgentMessage"), mark("ContextCompaction"), mark("task_complete"), mark("turn_aborted")}

// compacts reports whether a turn without a prompt has begun since a time, and has compacted the
// conversation or ended without a word, as one that failed. A turn of a goal has no prompt either, but words.
func (f Files) compacts(from talk.Cursor, since time.Time) (has bool, err error) {
	began := false
	_, err = f.Lines(from, true, func(text []byte) bool {
		if !isMarked(text, compactMarks) {
			return true
		}
		l, err := read(text)
		if err != nil || l.Type != event { // a broken line proves nothing
			return true
		}
		switch p := l.Payload; {
		case p.Type == "task_started":
			began = !l.Timestamp.Before(since)
		case p.Item.Type == "UserMessage", p.Item.Type == "AgentMessage":
			began = false
		case p.Item.Type == "ContextCompaction", p.Type == "task_complete", p.Type == "turn_aborted":
			has = has || began
		}
		return !has
	})
	return has, err
}

// Image opens a picture that the model has made.
func (Files) Image(at talk.Cursor, image talk.Image) (history.Content, error) {
	p, err := jsonl.OpenImage(at, image)
	if err != nil {
		return history.Content{}, err
	}
	return history.Content{Body: p, Size: p.Size}, nil
}

func callOf(q talk.Request) string {
	var in struct{ Call string }
	_ = json.Unmarshal(q.Input, &in) // without an id no result is found
	return in.Call
}

// Patch returns the words of a call that is among the last lines.
func (f Files) Patch(ctx context.Context, conversation uuid.UUID, call string) (patch string) {
	path, err := f.Find(conversation)
	if err != nil {
		return ""
	}
	lines := 0
	_ = f.LinesBefore(ctx, path, history.End, func(text []byte) bool { // what cannot be read has none
		var given struct{ Cmd string }
		if l, err := read(text); err == nil && l.Payload.CallID == call {
			_ = json.Unmarshal([]byte(l.Payload.Arguments), &given) // of a function
			patch = cmp.Or(l.Payload.Input, given.Cmd)
		}
		lines++
		return patch == "" && lines < lastLines
	})
	return patch
}

// lastLines is more than the lines after a call that waits for a permission.
const lastLines = 1000

// HasCommand reports false: Codex' own commands are not files of a folder.
func (Files) HasCommand(string, string) bool { return false }

// Prices knows none.
func (Files) Prices(string) (history.Prices, error) { return history.Prices{Table: unpriced{}}, nil }

type unpriced struct{}

// Cost is unknown.
func (unpriced) Cost(string, history.Tokens) (float64, bool) { return 0, false }

// Name is the id.
func (unpriced) Name(model string) string { return model }
