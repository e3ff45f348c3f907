package jsonl

import (
	"cmp"
	"strings"
	"time"

	"ccbot/port/talk"
)

// Reply follows an agent's answer to a typed text until its turn has ended.
type Reply struct {
	talk.Reply
	Begun bool // the text is in the transcript

	reader *Reader
	since  time.Time
	text   string
	called bool // a tool was called after the last of Texts
	passed bool // another prompt came after the limit
	// The last command that was typed is the text itself, and not one of the person at the
	// terminal.
	local bool
}

// ReplyTo follows the answer to a text in a transcript from offset on, as Trace finds the text:
// the offset may stand inside a line, and the file need not be there yet.
func (f *Form) ReplyTo(path string, offset int64, since time.Time, text string) *Reply {
	r := f.Open(talk.Cursor{Path: path, Offset: offset})
	r.Loose = true
	return &Reply{reader: r, since: since, text: text}
}

// Read reads on to the present end of the transcript, or to the end of the turn. A turn that a
// limit has ended may be continued by Claude Code itself: then it runs again.
func (r *Reply) Read() (talk.Reply, error) {
	for r.Ending == Runs || r.Failure.Kind == talk.FailedLimit && !r.passed {
		item, ok, err := r.reader.Next()
		if err != nil || !ok {
			return r.Reply, err
		}
		r.take(item)
	}
	return r.Reply, nil
}

// Close closes the transcript. A later Read opens it again, and continues.
func (r *Reply) Close() error {
	rest := r.reader.form.Open(talk.Cursor{Path: r.reader.start.Path, Offset: r.reader.next})
	if rest.Loose = true; len(r.reader.queue) > 0 {
		rest = r.reader.form.Open(r.reader.queue[0].At)
	}
	defer func() { r.reader = rest }()
	return r.reader.Close()
}

func (r *Reply) take(item Item) {
	if item.Sidechain || item.Meta || item.Kind != TurnEnd && item.Time.Before(r.since) {
		return
	}
	if !r.Begun {
		if item.Kind == QueueOperation || !proves(item, r.text) {
			return // a prompt that Claude Code holds back begins its turn later
		}
		r.Begun = true
	}
	if r.Ending == talk.FailedTurn { // by a limit
		if r.passed = item.Kind == UserPrompt; r.passed || !item.Begins() {
			return
		}
		r.Ending, r.Failure = Runs, talk.Failure{}
	}
	switch item.Kind {
	case LocalCommand:
		r.local = proves(item, r.text)
	case Text:
		r.addText(item.Whole())
	case ToolUse:
		r.called = true
	case LocalOutput: // of a command: no end of a turn follows
		if !r.local && !proves(item, r.text) {
			return
		}
		r.addText(item.Whole())
		r.Ending = talk.EndedTurn
		if item.Failure.Kind != "" {
			r.Ending = talk.FailedTurn
		}
	default:
		r.Ending = item.Ends()
	}
	if r.Ending == talk.FailedTurn {
		r.Failure = r.reader.form.failureOf(item)
		r.Failure.Text = cmp.Or(item.Failure.Text, item.Text)
	}
}

// addText keeps the texts since the last call of a tool: the answer is what comes after the work.
func (r *Reply) addText(text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	if r.called {
		r.Texts, r.called = nil, false
	}
	r.Texts = append(r.Texts, text)
}
