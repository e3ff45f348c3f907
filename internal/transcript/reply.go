package transcript

import (
	"cmp"
	"strings"
	"time"

	"ccbot/port/talk"
)

// Reply follows an agent's answer to a typed text until its turn has ended.
type Reply struct {
	Begun   bool // the text is in the transcript
	Texts   []string
	Ending  talk.Ending
	Failure Failure // of FailedTurn

	reader *Reader
	since  time.Time
	text   string
	called bool // a tool was called after the last of Texts
	// The last command that was typed is the text itself, and not one of the person at the
	// terminal.
	local bool
}

// ReplyTo follows the answer to a text in a transcript from offset on, as TraceOf finds the text:
// the offset may stand inside a line, and the file need not be there yet.
func ReplyTo(path string, offset int64, since time.Time, text string) *Reply {
	r := Open(talk.Cursor{Path: path, Offset: offset})
	r.loose = true
	return &Reply{reader: r, since: since, text: text}
}

// Read reads on to the present end of the transcript, or to the end of the turn.
func (a *Reply) Read() error {
	for a.Ending == Runs {
		item, ok, err := a.reader.Next()
		if err != nil || !ok {
			return err
		}
		a.take(item)
	}
	return nil
}

// Close closes the transcript.
func (a *Reply) Close() error { return a.reader.Close() }

func (a *Reply) take(item Item) {
	if item.Sidechain || item.Meta || item.Kind != TurnEnd && item.Time.Before(a.since) {
		return
	}
	if !a.Begun {
		if item.Kind == QueueOperation || !proves(item, a.text) {
			return // a prompt that Claude Code holds back begins its turn later
		}
		a.Begun = true
	}
	switch item.Kind {
	case LocalCommand:
		a.local = proves(item, a.text)
	case Text:
		a.addText(item.whole())
	case ToolUse:
		a.called = true
	case LocalOutput: // of a command: no end of a turn follows
		if !a.local && !proves(item, a.text) {
			return
		}
		a.addText(item.whole())
		a.Ending = talk.EndedTurn
		if item.Failure.Kind != "" {
			a.Ending = talk.FailedTurn
		}
	default:
		a.Ending = item.Ends()
	}
	if a.Ending == talk.FailedTurn {
		a.Failure = item.Failure
		a.Failure.Text = cmp.Or(item.Failure.Text, item.Text)
	}
}

// addText keeps the texts since the last call of a tool: the answer is what comes after the work.
func (a *Reply) addText(text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	if a.called {
		a.Texts, a.called = nil, false
	}
	a.Texts = append(a.Texts, text)
}
