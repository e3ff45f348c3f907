package jsonl

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"ccbot/agent/history"
	"ccbot/port/talk"
)

const (
	// entrySpan limits the part of the transcript that one answer is made of; the rest of a longer
	// answer is a separate entry.
	entrySpan = 4 << 20
	// listChunk is small: the newest entries are usually in the last few lines.
	listChunk = 256 << 10
)

// Older calls see with the entries before a place where a line ends, the newest first, until see
// returns false. before -1: the end. ErrTruncated: no line ends there.
func (f *Form) Older(ctx context.Context, path string, before int64, see func(history.Entry) bool) error {
	b, err := f.openBackwards(ctx, path, before, listChunk)
	if err != nil {
		return err
	}
	defer b.close()
	return f.entries(b.each, join, see)
}

// Newer calls see with the entries from a place on where a line begins, the oldest first, until see
// returns false. ErrTruncated: no line begins there.
func (f *Form) Newer(ctx context.Context, path string, from int64, see func(history.Entry) bool) error {
	r := f.Open(talk.Cursor{Path: path, Offset: from})
	r.Allow = func(int64) error { return ctx.Err() }
	defer r.Close()
	return f.entries(r.Each, func(next, first history.Entry) (history.Entry, bool) { return join(first, next) }, see)
}

// entries calls see with the entries of lines, until it returns false. join makes one entry of an
// entry and the one before it, if both are of one answer.
func (f *Form) entries(each func(see func(l Line) bool) error, join func(comes, came history.Entry) (history.Entry, bool), see func(history.Entry) bool) error {
	open, more := history.Entry{}, true
	err := each(func(l Line) bool {
		e, ok := f.entryOf(l)
		if !ok {
			return true
		}
		if together, fits := join(e, open); fits {
			open = together
			return true
		}
		if open.Kind != "" {
			more = see(open)
		}
		open = e
		return more
	})
	if err == nil && more && open.Kind != "" {
		see(open)
	}
	return err
}

// join makes one entry of two that follow each other, if both are of one answer.
func join(first, next history.Entry) (history.Entry, bool) {
	if first.Kind != talk.EntryAnswer || next.Kind != talk.EntryAnswer || next.End-first.At > entrySpan {
		return history.Entry{}, false
	}
	next.At, next.Images = first.At, first.Images+next.Images
	next.Texts, next.Calls = slices.Concat(first.Texts, next.Texts), slices.Concat(first.Calls, next.Calls)
	next.Interrupted, next.Cut = next.Interrupted || first.Interrupted, next.Cut || first.Cut
	return next, true
}

// entryOf returns the part of a line that people read; false: nothing.
func (f *Form) entryOf(l Line) (e history.Entry, ok bool) {
	if f.Silent(l.Text) {
		return e, false
	}
	items, _ := f.read(l) // one bad line must not hide the others
	e.At, e.End = l.At, l.End
	for _, item := range items {
		if item.Sidechain || item.Meta {
			continue
		}
		take(&e, item)
		e.Time = item.Time
	}
	return e, e.Kind != ""
}

func take(e *history.Entry, item Item) {
	text, images := strings.TrimSpace(item.Text), len(item.Images)
	switch item.Kind {
	case UserPrompt, LocalCommand:
		e.Kind = talk.EntryPrompt
	case Text, APIError:
		e.Kind = talk.EntryAnswer
	case LocalOutput:
		if text == "" {
			return // it is only the proof that the command ran
		}
		e.Kind, text = talk.EntryAnswer, fenced(text)
	case ToolUse:
		e.Kind, e.Calls = talk.EntryAnswer, append(e.Calls, item.Tool.Name)
	case Interrupt:
		e.Kind, e.Interrupted, text = talk.EntryAnswer, true, ""
	case CompactBoundary:
		e.Kind, text = talk.EntryCompacted, ""
	default:
		return
	}
	e.Images += images
	if item.Rest != nil {
		e.Cut, text = true, text+"…"
	}
	if text != "" {
		e.Texts = append(e.Texts, text)
	}
}

// fenced returns a text as a block of code in Markdown, or nothing for an empty text.
func fenced(text string) string {
	if text == "" {
		return ""
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence
}

// toMinute is the time of a line up to its minute.
const toMinute = "2006-01-02T15:04"

// timePattern is before a time in UTC.
var timePattern = []byte(`"timestamp":"`)

// Days calls see with the days before a place, the newest first, until see returns false. reached
// is the place up to which it has read, also after an error: ctx's error is usual, and the last day
// may have begun before that.
func (f *Form) Days(ctx context.Context, path string, before int64, in *time.Location, see func(history.Day) bool) (reached int64, err error) {
	b, err := f.openBackwards(ctx, path, before, searchChunk)
	if err != nil {
		return before, err
	}
	defer b.close()
	var day history.Day
	minute, more := "", true
	err = b.each(func(l Line) bool {
		_, stamp, found := bytes.Cut(l.Text, timePattern)
		if !found || len(stamp) < len(time.RFC3339) || !hasAny(l.Text, f.Spoken) || f.Aside != nil && bytes.Contains(l.Text, f.Aside) {
			return true
		}
		// The days of some zones begin at half past.
		if now := string(stamp[:len(toMinute)]); now != minute {
			t, err := time.Parse(toMinute, now)
			if err != nil {
				return true
			}
			minute, t = now, t.In(in)
			if day.Time.IsZero() || t.Format(time.DateOnly) != day.Time.Format(time.DateOnly) {
				if !day.Time.IsZero() {
					more = see(day)
				}
				day.Time = t
			}
		}
		if more {
			day.At = l.At
		}
		return more
	})
	if more && !day.Time.IsZero() {
		see(day)
	}
	return b.end, err
}
