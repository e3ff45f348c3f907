package toy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"ccbot/port/talk"
)

// Kind is the kind of a line.
type Kind string

// The kinds of lines.
const (
	Prompt Kind = "prompt"
	Words  Kind = "words"  // of the agent
	Call   Kind = "call"   // the command of a tool
	Result Kind = "result" // of the tool
	Error  Kind = "error"  // it ends the turn
	Stop   Kind = "stop"   // a person has interrupted the turn
	End    Kind = "end"    // of the turn
)

// Line is one line of a transcript.
type Line struct {
	Kind Kind
	At   time.Time
	Text string

	from, next int64 // its offset, and the offset after it
}

// String is the line as the toy writes it.
func (l Line) String() string {
	return fmt.Sprintf("%s %s %q\n", l.Kind, l.At.UTC().Format(time.RFC3339Nano), l.Text)
}

// Name is the name of a conversation's file.
func Name(conversation fmt.Stringer) string { return conversation.String() + suffix }

const suffix = ".toy"

// lines returns the whole lines of a transcript from an offset. A file that is not there has none.
func lines(from talk.Cursor) (all []Line, err error) {
	f, err := os.Open(from.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.NewSectionReader(f, from.Offset, 1<<40))
	at := from.Offset
	for len(data) > 0 && err == nil {
		text, rest, whole := bytes.Cut(data, []byte("\n"))
		if !whole {
			break
		}
		l := Line{from: at, next: at + int64(len(text)) + 1}
		at, data = l.next, rest
		if fields := strings.SplitN(string(text), " ", 3); len(fields) == 3 {
			l.Kind = Kind(fields[0])
			l.At, _ = time.Parse(time.RFC3339Nano, fields[1]) // a broken line has no time and no text
			l.Text, _ = strconv.Unquote(fields[2])
			all = append(all, l)
		}
	}
	return all, err
}

// folded is a text without the differences of white space, which a terminal may change.
func folded(text string) string { return strings.Join(strings.Fields(text), " ") }

// has reports whether the line is the prompt that was sent at a time.
func (l Line) has(text string, since time.Time) bool {
	return l.Kind == Prompt && !l.At.Before(since) && strings.Contains(folded(l.Text), folded(text))
}
