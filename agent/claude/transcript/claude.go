package transcript

import (
	"bytes"

	"ccbot/agent/history"
	"ccbot/agent/jsonl"
	"ccbot/port/talk"
)

// Form returns the form of Claude Code.
func Form() *jsonl.Form {
	return &jsonl.Form{Parse: parseLine, Silent: silent, Spoken: spokenMarks, Aside: sidePattern}
}

// Grew reports whether the conversation continued after offset with a whole line of the user or the
// assistant. Titles, summaries, costs and other bookkeeping are not the conversation: Claude Code
// 2.1.328 writes such lines when a session is only opened and left. Offset and errors are as for
// Form.Trace.
func Grew(path string, offset int64) (grew bool, err error) {
	_, err = Form().Lines(talk.Cursor{Path: path, Offset: offset}, true, func(text []byte) bool {
		e, whole := readEntry(text)
		grew = whole && e.spoken()
		return !grew
	})
	return grew, err
}

// FirstID returns the id of the first line of a conversation, or an empty string. The copy of a
// conversation begins with the same line.
func FirstID(path string) (id string) {
	_ = Form().Each(talk.Cursor{Path: path}, false, func(item jsonl.Item) bool { // an unreadable one has no id
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

// Advance is [jsonl.Form.Advance] of Claude Code. A call of a task tool that has no result yet is
// left for the next time, together with everything after it.
func Advance(p history.Progress, path string) (history.Progress, error) {
	return Form().Advance(p, path, func(p *history.Progress) (take func(text []byte), end func()) {
		t := newTally(p)
		return t.take, t.end
	})
}
