package transcript

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"time"

	"ccbot/agent/history"
	"ccbot/internal/watch"
	"ccbot/port/talk"
)

// ClaudeForm returns the form of Claude Code.
func ClaudeForm() *Form {
	return &Form{parse: parseLine, silent: silent, spoken: spokenMarks, aside: sidePattern}
}

// Open is [Form.Open] of Claude Code.
func Open(c talk.Cursor) *Reader { return ClaudeForm().Open(c) }

// Each is [Form.Each] of Claude Code.
func Each(from talk.Cursor, loose bool, see func(Item) bool) error {
	return ClaudeForm().Each(from, loose, see)
}

// NewFollower is [Form.Follow] of Claude Code.
func NewFollower(c talk.Cursor, room *watch.Watcher, log *slog.Logger) *Follower {
	return ClaudeForm().Follow(c, room, log)
}

// Older is [Form.Older] of Claude Code.
func Older(ctx context.Context, path string, before int64, see func(Entry) bool) error {
	return ClaudeForm().Older(ctx, path, before, see)
}

// Newer is [Form.Newer] of Claude Code.
func Newer(ctx context.Context, path string, from int64, see func(Entry) bool) error {
	return ClaudeForm().Newer(ctx, path, from, see)
}

// Search is [Form.Search] of Claude Code.
func Search(ctx context.Context, path string, before int64, w Word, see func(history.Found) bool) (int64, error) {
	return ClaudeForm().Search(ctx, path, before, w, see)
}

// Days is [Form.Days] of Claude Code.
func Days(ctx context.Context, path string, before int64, in *time.Location, see func(Day) bool) (int64, error) {
	return ClaudeForm().Days(ctx, path, before, in, see)
}

// LastAnswer is [Form.LastAnswer] of Claude Code.
func LastAnswer(before talk.Cursor) ([]Item, error) { return ClaudeForm().LastAnswer(before) }

// Between is [Form.Between] of Claude Code.
func Between(from, before talk.Cursor) ([]Item, error) { return ClaudeForm().Between(from, before) }

// LastPrompt is [Form.LastPrompt] of Claude Code.
func LastPrompt(ctx context.Context, path string) string { return ClaudeForm().LastPrompt(ctx, path) }

// Unsaid is [Form.Unsaid] of Claude Code.
func Unsaid(c talk.Cursor, before int64) bool { return ClaudeForm().Unsaid(c, before) }

// BashCommand is [Form.BashCommand] of Claude Code.
func BashCommand(at talk.Cursor) string { return ClaudeForm().BashCommand(at) }

// ReplyTo is [Form.ReplyTo] of Claude Code.
func ReplyTo(path string, offset int64, since time.Time, text string) *Reply {
	return ClaudeForm().ReplyTo(path, offset, since, text)
}

// TraceOf is [Form.Trace] of Claude Code.
func TraceOf(path string, offset int64, since time.Time, text string) (Trace, error) {
	return ClaudeForm().Trace(path, offset, since, text)
}

// Grew reports whether the conversation continued after offset with a whole line of the user or the
// assistant. Titles, summaries, costs and other bookkeeping are not the conversation: Claude Code
// 2.1.328 writes such lines when a session is only opened and left. Offset and errors are as for
// Form.Trace.
func Grew(path string, offset int64) (grew bool, err error) {
	r := Open(talk.Cursor{Path: path, Offset: offset})
	r.loose = true
	err = r.each(func(l line) bool {
		e, whole := readEntry(l.text)
		grew = whole && e.spoken()
		return !grew
	})
	return grew, errors.Join(err, r.Close())
}

// FirstID returns the id of the first line of a conversation, or an empty string. The copy of a
// conversation begins with the same line.
func FirstID(path string) (id string) {
	_ = Each(talk.Cursor{Path: path}, false, func(item Item) bool { // an unreadable one has no id
		id = item.UUID
		return id == ""
	})
	return id
}

var (
	spokenMarks = [][]byte{[]byte(`"type":"user"`), []byte(`"type":"assistant"`)}
	sidePattern = []byte(`"isSidechain":true`)
)

var (
	resultPattern = []byte(`"type":"tool_result"`)
	textPattern   = []byte(`"type":"text"`)
)

// silent reports whether a line holds nothing but what tools gave: such lines are most of a
// transcript.
func silent(line []byte) bool {
	return bytes.Contains(line, resultPattern) && !bytes.Contains(line, textPattern)
}
