package jsonl

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"ccbot/agent/history"
	"ccbot/port/talk"
)

const (
	// lastWindow is the distance before a cursor at which the last answer is searched for first;
	// usually it is right there.
	lastWindow = 2 << 20
	// lastFarthest is the distance at which the search ends: a turn may hold many megabytes of
	// pictures after its words.
	lastFarthest = 32 << 20
)

func (f *Form) farthest() int64 { return cmp.Or(f.Farthest, lastFarthest) }

// LastAnswer returns the last answer before a cursor, oldest item first: the texts, and the output
// of local commands, of the newest turn that has any. If the turn is longer than the part that is
// read (32 MiB at most), it returns the end of the turn, and cut is true. A missing answer is no
// error, and neither is a missing file.
func (f *Form) LastAnswer(ctx context.Context, before talk.Cursor) (items []Item, cut bool, err error) {
	for window := int64(lastWindow); ; window *= 4 {
		items = nil
		over := false // the turn of items has ended
		from := talk.Cursor{Path: before.Path, Offset: max(0, before.Offset-window)}
		cut = from.Offset > 0 // until the end of an earlier turn is read
		err := f.Each(from, true, func(item Item) bool {
			switch {
			case !item.At.Precedes(before) || ctx.Err() != nil:
				return false
			case item.Sidechain || item.Meta:
			case item.Spoken() && item.hasText():
				if over {
					items, over, cut = nil, false, false
				}
				items = append(items, item)
			case item.IsFromPerson(), item.Ends() != Runs:
				over = true
			}
			return true
		})
		if err = cmp.Or(ctx.Err(), err); err != nil {
			return nil, false, fmt.Errorf("find the last answer: %w", err)
		}
		if len(items) > 0 && !cut || window >= before.Offset || window >= f.farthest() {
			return items, cut, nil
		}
	}
}

// between returns the texts, the output of local commands, and what people have asked, between two
// places of one file, oldest first. Of more than 32 MiB it returns the end, and cut is true.
func (f *Form) between(ctx context.Context, from, before talk.Cursor) (items []Item, cut bool, err error) {
	start := talk.Cursor{Path: from.Path, Offset: max(from.Offset, before.Offset-f.farthest())}
	err = f.Each(start, true, func(item Item) bool {
		if !item.At.Precedes(from) && item.At.Precedes(before) && (item.Spoken() && item.hasText() || item.IsFromPerson()) {
			items = append(items, item)
		}
		return item.At.Precedes(before) && ctx.Err() == nil
	})
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return nil, false, fmt.Errorf("find the last texts: %w", err)
	}
	return items, start.Offset > from.Offset, nil
}

// promptFarthest is less, because a list of sessions should be quick.
const promptFarthest = 8 << 20

// LastPrompt returns the last prompt or command of a person in a transcript. It is empty if that is
// too far back, or if the file cannot be read.
func (f *Form) LastPrompt(ctx context.Context, path string) (text string) {
	b, err := f.openBackwards(ctx, path, history.End, listChunk)
	if err != nil {
		return ""
	}
	defer b.close()
	b.last = max(0, b.end-promptFarthest)
	_ = b.each(func(l Line) bool {
		if e, _ := f.entryOf(l); e.Kind == talk.EntryPrompt {
			text = strings.Join(e.Texts, "\n")
		}
		return text == ""
	})
	return text
}

func (i Item) hasText() bool { return i.Kind == Text || i.Kind == LocalOutput }

// Unsaid reports whether the part between c and an offset may hold a text for the person. A
// part that cannot be read may hold some; a file that is gone holds nothing.
func (f *Form) Unsaid(c talk.Cursor, before int64) (unsaid bool) {
	err := f.Each(c, false, func(item Item) bool {
		unsaid = item.At.Offset < before && item.Spoken()
		return item.At.Offset < before && !unsaid
	})
	return unsaid || err != nil
}

// bashWindow is the distance before an output within which its command is searched for: Claude Code
// writes the two right after each other, once the command has ended.
const bashWindow = 256 << 10

// BashCommand is the command of bash mode ("!make test") that printed the output at a place. It is
// empty when the command is not found.
func (f *Form) BashCommand(at talk.Cursor) string {
	command, reached := "", false
	before := talk.Cursor{Path: at.Path, Offset: max(0, at.Offset-bashWindow)}
	_ = f.Each(before, true, func(item Item) bool { // an unreadable file has none
		if reached = !item.At.Precedes(at); !reached && item.Kind == LocalCommand && item.Command == "!" {
			command = item.Text
		}
		return !reached
	})
	if !reached { // it is a place in another file
		return ""
	}
	return command
}
