package jsonl

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"time"

	"ccbot/agent"
	"ccbot/agent/history"
	"ccbot/internal/lazyregexp"
	"ccbot/internal/watch"
	"ccbot/port/talk"
)

// items is an agent.Items.
type items struct{ *Follower }

// Follow follows a transcript as the chat takes it. It watches the folder only after a call has
// waited.
func (f *Form) Follow(from talk.Cursor, folders *watch.Watcher, log *slog.Logger) agent.Items {
	return items{f.Follower(from, folders, log)}
}

// Now is Follower.Now.
func (i items) Now() (shown talk.Item, failed talk.Failure, ok bool, err error) {
	item, ok, err := i.Follower.Now()
	if ok {
		shown, failed = i.reader.form.ItemOf(item)
	}
	return shown, failed, ok, err
}

// Next is Follower.Next.
func (i items) Next(ctx context.Context) (shown talk.Item, failed talk.Failure, err error) {
	item, err := i.Follower.Next(ctx)
	if err == nil {
		shown, failed = i.reader.form.ItemOf(item)
	}
	return shown, failed, err
}

// ItemOf returns an item as the chat takes it, and the failure that it shows.
func (f *Form) ItemOf(item Item) (talk.Item, talk.Failure) {
	shown := talk.Item{At: item.At, Next: item.Next, Kind: item.Kind, Time: item.Time,
		Sidechain: item.Sidechain, Meta: item.Meta, FromPerson: item.IsFromPerson(), Begins: item.Begins(), Ends: item.Ends(),
		Last: item.Last, Text: item.Text, Images: item.Images, Size: item.Size, Off: item.Off, Cause: item.Failure.Kind}
	if item.Kind == LocalOutput && item.Command == "!" {
		shown.Bash = f.BashCommand(item.At)
	}
	if r := item.Rest; r != nil {
		shown.Rest = &talk.Rest{Offset: r.Offset, Length: r.Length, Raw: r.Raw}
		if !r.Raw {
			shown.Rest.Most = Budget()
		}
	}
	if t := item.Tool; t != nil {
		shown.Tool = &talk.Tool{ID: t.ID, Name: t.Name, Failed: t.IsError, Denied: t.Denial != ""}
		if item.Kind == ToolUse {
			shown.Tool.Step = t.Step()
		}
		shown.Tool.Background = item.Background
	}
	if item.TaskEnded != nil {
		shown.Kind, shown.Tool = talk.TaskEnded, item.TaskEnded
	}
	if item.Failure.Kind == talk.FailedRefused && f.isRepeated(item) {
		shown.Cause = talk.FailedAgain
	}
	return shown, f.failureOf(item)
}

// failureOf returns the failure that an item shows. It is not called while the file is read.
func (f *Form) failureOf(item Item) talk.Failure {
	if item.Failure.Kind == talk.FailedLimit && item.Failure.Until.IsZero() && f.LimitEnd != nil {
		item.Failure.Until = f.LimitEnd(item.At)
	}
	return item.Failure
}

const (
	// failuresChunk and failuresFarthest are how much is read at once of what precedes a failure, and at most: the prompt
	// that failed may have pictures.
	failuresChunk    = 256 << 10
	failuresFarthest = 32 << 20
)

// isRepeated reports whether the turn before the one that a failure ends has ended with the same failure: no answer came in
// between. A compaction may have, which did not help then: some agents compact by themselves. It is not called while the file
// is read.
func (f *Form) isRepeated(item Item) (same bool) {
	b, err := f.openBackwards(context.Background(), item.At.Path, item.At.Offset, failuresChunk)
	if err != nil {
		return false // one more message without the way out
	}
	defer b.close()
	b.last = max(0, b.end-failuresFarthest)
	_ = b.each(func(l Line) bool {
		before, _ := f.Parse(l) // a broken line says nothing
		for _, one := range slices.Backward(before) {
			switch {
			case one.Sidechain || one.Meta:
			case one.Kind == APIError:
				same = one.Failure.Kind == item.Failure.Kind && one.Status == item.Status && gist(one.Failure.Text) == gist(item.Failure.Text)
				return false
			case one.Kind == Text, one.Kind == ToolUse:
				return false
			}
		}
		return true
	})
	return same
}

// ofRequest is what may differ in the words of the same error: the ids of each request, sizes, and places in the conversation.
var ofRequest = lazyregexp.New(`\breq_\w+|cf-ray: \S+|request id: \S+|\d[\d.,]*`)

// gist is an error without what only one request has.
func gist(text string) string { return ofRequest.ReplaceAllString(text, "") }

// Between is part of history.Excerpts. It reads at most 32 MiB.
func (f *Form) Between(ctx context.Context, from *talk.Cursor, before talk.Cursor, see func(talk.Item, talk.Failure)) (cut bool, err error) {
	var all []Item
	if from == nil {
		all, cut, err = f.LastAnswer(ctx, before)
	} else {
		all, cut, err = f.between(ctx, *from, before)
	}
	for _, item := range all {
		see(f.ItemOf(item))
	}
	return cut, err
}

// Words opens the words of an item that are sent without a request, or, if beyond, the others. It
// decodes the text while it is read.
func (f *Form) Words(at talk.Cursor, rest talk.Rest, beyond bool) (history.Content, error) {
	w, err := OpenWords(at, rest)
	if err != nil {
		return history.Content{}, err
	}
	cut, err := w.Boundary(rest.Most)
	if err != nil {
		return history.Content{}, errors.Join(err, w.Close())
	}
	begin, end := int64(0), cut
	if beyond {
		begin, end = cut, w.Size
	}
	body := struct {
		io.ReaderAt
		io.Closer
	}{io.NewSectionReader(w, begin, end-begin), w}
	return history.Content{Body: body, Size: end - begin}, nil
}

// Reply is part of agent.Replies. It finds the text as Trace does: mark may stand inside a line.
// The file is open only during a read.
func (f *Form) Reply(mark talk.Cursor, since time.Time, text string) func() (talk.Reply, error) {
	reply := f.ReplyTo(mark.Path, mark.Offset, since, text)
	return func() (talk.Reply, error) {
		answer, err := reply.Read()
		return answer, errors.Join(err, reply.Close())
	}
}

// HasOthers counts a repetition of the text as another prompt.
func (f *Form) HasOthers(mark talk.Cursor, since time.Time, text string) (others bool, err error) {
	own := 0
	err = f.Each(mark, true, func(item Item) bool {
		if item.Kind != UserPrompt || item.Meta || item.Sidechain || item.Time.Before(since) {
			return true
		}
		if Contains(item.Text, text) {
			own++
		} else {
			others = true
		}
		return !others && own <= 1
	})
	return others || own > 1, err
}

// HasInterrupt reports whether a transcript has an interrupt after a position.
func (f *Form) HasInterrupt(from talk.Cursor) (has bool) {
	_ = f.Each(from, false, func(item Item) bool { // an unreadable transcript proves nothing
		has = item.Kind == Interrupt
		return !has
	})
	return has
}
