package transcript

import (
	"errors"
	"fmt"
)

const (
	// lastWindow is how far before a cursor the last answer is searched for at first; usually it
	// stands right there.
	lastWindow = 2 << 20
	// lastFarthest is where the search ends: a turn may hold many megabytes of pictures behind its
	// words.
	lastFarthest = 32 << 20
)

// LastAnswer returns the last answer before a cursor, oldest item first: the texts, and the output
// of local commands, of the newest turn that has any. If the turn is longer than the part that is
// read (32 MiB at most), it returns the end of the turn. A missing answer is no error, and neither
// is a missing file.
func LastAnswer(before Cursor) ([]Item, error) {
	for window := int64(lastWindow); ; window *= 4 {
		items, err := lastWithin(before, window)
		if err != nil {
			return nil, fmt.Errorf("find the last answer: %w", err)
		}
		if len(items) > 0 || window >= before.Offset || window >= lastFarthest {
			return items, nil
		}
	}
}

// Said returns the texts, and the output of local commands, between two places of one file, oldest
// first. Of more than 32 MiB it returns the end.
func Said(from, before Cursor) (items []Item, err error) {
	r := Open(Cursor{Path: from.Path, Offset: max(from.Offset, before.Offset-lastFarthest)})
	r.loose = true
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		item, ok, err := r.Next()
		if err != nil {
			return nil, fmt.Errorf("find what was said: %w", err)
		}
		if !ok || !item.At.precedes(before) {
			return items, nil
		}
		if !item.At.precedes(from) && item.Spoken() && item.says() {
			items = append(items, item)
		}
	}
}

// promptFarthest is how far back the last prompt is searched for: a list of sessions is to be quick.
const promptFarthest = 8 << 20

// LastPrompt returns what a person asked last before a cursor: a prompt, or a command. It is empty if
// that stands too far back, or if there is no such file.
func LastPrompt(before Cursor) (text string, err error) {
	for window := int64(256 << 10); ; window *= 4 {
		last, err := promptWithin(before, window)
		if err != nil {
			return "", fmt.Errorf("find the last prompt: %w", err)
		}
		if last != "" || window >= before.Offset || window >= promptFarthest {
			return last, nil
		}
	}
}

func promptWithin(before Cursor, window int64) (last string, err error) {
	r := Open(Cursor{Path: before.Path, Offset: max(0, before.Offset-window)})
	r.loose = true
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		item, ok, err := r.Next()
		if err != nil {
			return "", err
		}
		if !ok || !item.At.precedes(before) {
			return last, nil
		}
		if asks := item.Kind == UserPrompt || item.Kind == LocalCommand; asks && !item.Sidechain && !item.Meta && item.Text != "" {
			last = item.Text
		}
	}
}

func lastWithin(before Cursor, window int64) (items []Item, err error) {
	r := Open(Cursor{Path: before.Path, Offset: max(0, before.Offset-window)})
	r.loose = true
	defer func() { err = errors.Join(err, r.Close()) }()
	over := false // the turn of items has ended
	for {
		item, ok, err := r.Next()
		if err != nil {
			return nil, err
		}
		if !ok || !item.At.precedes(before) {
			return items, nil
		}
		switch {
		case item.Sidechain || item.Meta:
		case item.Spoken() && item.says():
			if over {
				items, over = nil, false
			}
			items = append(items, item)
		case item.borders():
			over = true
		}
	}
}

// precedes compares two places of one file. A cursor inside an item, of which only some parts were
// handled, counts as a place before that item.
func (c Cursor) precedes(other Cursor) bool {
	return c.Offset < other.Offset || c.Offset == other.Offset && c.Block < other.Block
}

func (i Item) says() bool { return i.Kind == Text || i.Kind == LocalOutput }

// borders reports whether a turn begins or ends with an item.
func (i Item) borders() bool {
	switch i.Kind {
	case UserPrompt, LocalCommand, TurnEnd, Interrupt, APIError:
		return true
	}
	return false
}
