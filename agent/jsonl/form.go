package jsonl

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"ccbot/port/talk"
)

// Form is the way in which an agent writes its transcripts. Its methods are those of
// agent.Replies, agent.Proof and package history in which such agents do not differ.
type Form struct {
	// Parse reads one line. An error means that the line is not of the form, or is not known. The
	// items have no cursors.
	Parse func(l Line) ([]Item, error)
	// Silent reports whether a line holds nothing that people read, as most lines do.
	Silent func(line []byte) bool
	Spoken [][]byte // one of them is in each line that people read
	Aside  []byte   // it is in lines that are not of the conversation; nil: there are none
	// Farthest is the distance before a cursor at which the search for the last answer ends; 0 means
	// 32 MiB.
	Farthest int64
	// LimitEnd returns the end of the limit that an item is about, if another line says it; nil: the
	// line of the item does, or none. A zero time is unknown.
	LimitEnd func(at talk.Cursor) time.Time
}

// NewForm returns a form whose lines parse reads; the items that it returns have no cursors. Each
// line that people read holds one of marks. A line has its time in UTC in "timestamp".
func NewForm(parse func(line []byte) ([]Item, error), marks ...[]byte) *Form {
	return &Form{
		Parse: func(l Line) ([]Item, error) {
			if long := l.TooLong(); long != nil {
				return long, nil
			}
			text := bytes.TrimSpace(l.Text)
			if len(text) == 0 {
				return nil, nil
			}
			items, err := parse(text)
			for i := range items {
				l.Restore(&items[i])
			}
			return items, err
		},
		Silent: func(line []byte) bool { return !hasAny(line, marks) },
		Spoken: marks,
	}
}

func hasAny(line []byte, marks [][]byte) bool {
	for _, mark := range marks {
		if bytes.Contains(line, mark) {
			return true
		}
	}
	return false
}

// read is Parse with protection against panics: agents change the content of lines with each
// version, and a mistake of a form about a line is only one more broken line.
func (f *Form) read(l Line) (items []Item, err error) {
	defer func() {
		if p := recover(); p != nil {
			items, err = nil, fmt.Errorf("parse transcript line: %v", p)
		}
	}()
	return f.Parse(l)
}

// Lines calls see with the whole lines from a cursor to the present end until it returns false.
// next is the offset after the last of them. loose: the cursor may stand inside a line, which is
// then passed. A file that is not there has no lines.
func (f *Form) Lines(from talk.Cursor, loose bool, see func(text []byte) bool) (next int64, err error) {
	r := f.Open(from)
	defer r.Close()
	r.Loose = loose
	err = r.Each(func(l Line) bool { return see(l.Text) })
	return r.next, err
}

// LinesBefore calls see with the lines before an offset, the last one first, until it returns false
// or ctx ends.
func (f *Form) LinesBefore(ctx context.Context, path string, before int64, see func(text []byte) bool) error {
	b, err := f.openBackwards(ctx, path, before, listChunk)
	if err != nil {
		return err
	}
	defer b.close()
	return b.each(func(l Line) bool { return see(l.Text) })
}
