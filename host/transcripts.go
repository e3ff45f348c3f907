package host

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/google/uuid"

	"ccbot/internal/each"
	"ccbot/internal/ownfile"
	"ccbot/internal/transcript"
	"ccbot/internal/watch"
	"ccbot/lifecycle/view"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// Transcripts reads the transcripts of this machine. It implements the chat's port. For each open
// session it keeps the transcript open that was read last.
type Transcripts struct {
	Records Records
	Watch   *watch.Watcher
	Log     *slog.Logger

	mu   sync.Mutex
	kept map[uuid.UUID]*follower // those that no call reads at the moment
}

// follower is an open transcript, with the place from which it continues.
type follower struct {
	*transcript.Follower
	at talk.Cursor
}

// keptAhead is the number of bytes of texts that one call returns; the last text may be longer.
const keptAhead = 1 << 20

// Next implements [talk.Transcripts].
func (t *Transcripts) Next(ctx context.Context, session uuid.UUID, from talk.Cursor, most int) ([]talk.Item, error) {
	r, _ := t.Records.Get(session)
	last := slices.IndexFunc(r.Cursors, func(c talk.Cursor) bool { return c.Path == from.Path }) == len(r.Cursors)-1
	written := last && r.State.Live()
	over := func(item transcript.Item) bool { // written in a terminal after the session's end
		return last && !written && r.Tail > 0 && item.At.Offset >= r.Tail
	}
	f := t.take(session, from)
	var items []talk.Item
	var failed error
	for size := int64(0); len(items) < most && size < keptAhead; {
		item, ok, err := f.Now()
		if !ok && err == nil && written && len(items) == 0 {
			item, err = f.Follower.Next(ctx)
			ok = err == nil
		}
		if !ok || over(item) {
			failed = err
			break
		}
		items, f.at = append(items, itemOf(item)), item.Next
		size += int64(len(item.Text))
	}
	if failed = refused(failed); len(items) > 0 {
		failed = nil // the next call fails again
	}
	if written && (failed == nil || errors.Is(failed, ctx.Err())) {
		t.keep(session, f)
		return items, failed
	}
	return items, errors.Join(failed, f.Close())
}

// take returns the transcript of a session, open at a cursor, to one call alone, and closes the
// transcripts that are kept for ended sessions.
func (t *Transcripts) take(session uuid.UUID, from talk.Cursor) *follower {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f, open := t.kept[session]; open && f.at == from {
		delete(t.kept, session)
		return f
	}
	t.closeLocked(func(id uuid.UUID) bool {
		r, _ := t.Records.Get(id)
		return id == session || !r.State.Live()
	})
	return &follower{transcript.NewFollower(from, t.Watch, t.Log), from}
}

func (t *Transcripts) keep(session uuid.UUID, f *follower) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closeLocked(func(id uuid.UUID) bool { return id == session })
	if t.kept == nil {
		t.kept = make(map[uuid.UUID]*follower)
	}
	t.kept[session] = f
}

// Close closes the transcripts that are kept. No call may be under way.
func (t *Transcripts) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closeLocked(func(uuid.UUID) bool { return true })
}

func (t *Transcripts) closeLocked(which func(session uuid.UUID) bool) {
	maps.DeleteFunc(t.kept, func(id uuid.UUID, f *follower) bool {
		if !which(id) {
			return false
		}
		_ = f.Close() // it was only read
		return true
	})
}

// Between returns the texts between two cursors, or the last answer.
func (*Transcripts) Between(_ context.Context, from *talk.Cursor, before talk.Cursor) ([]talk.Item, error) {
	var items []transcript.Item
	var err error
	if from == nil {
		items, err = transcript.LastAnswer(before)
	} else {
		items, err = transcript.Between(*from, before)
	}
	return each.As(items, itemOf), err
}

// Image implements [talk.Pictures].
func (*Transcripts) Image(_ context.Context, at talk.Cursor, image talk.Image) (talk.Picture, error) {
	p, err := transcript.OpenImage(at, image)
	if err != nil {
		return talk.Picture{}, err
	}
	return talk.Picture{Body: p, Size: p.Size}, nil
}

// Words implements [talk.Pictures].
func (*Transcripts) Words(_ context.Context, at talk.Cursor, rest talk.Rest, beyond bool) (talk.Picture, error) {
	w, err := transcript.OpenWords(at, transcript.Rest{Offset: rest.Offset, Length: rest.Length, Raw: rest.Raw})
	if err != nil {
		return talk.Picture{}, err
	}
	cut, err := w.Boundary(rest.Most)
	if err != nil {
		return talk.Picture{}, errors.Join(err, w.Close())
	}
	begin, end := int64(0), cut
	if beyond {
		begin, end = cut, w.Size
	}
	body := struct {
		io.ReaderAt
		io.Closer
	}{io.NewSectionReader(w, begin, end-begin), w}
	return talk.Picture{Body: body, Size: end - begin}, nil
}

// End finds the present end of a transcript.
func (*Transcripts) End(_ context.Context, of talk.Cursor) (talk.Cursor, error) {
	end, err := transcript.End(of.Path)
	return end, refused(err)
}

// refused returns the refusal that an error of a transcript is, or the error.
func refused(err error) error {
	switch {
	case errors.Is(err, transcript.ErrTruncated):
		return &refusal.Error{Code: refusal.Replaced, Err: err}
	case errors.Is(err, ownfile.ErrForeign):
		return &refusal.Error{Code: refusal.FileIrregular, Err: err}
	}
	return err
}

func itemOf(item transcript.Item) talk.Item {
	shown := talk.Item{At: item.At, Next: item.Next, Kind: item.Kind, Time: item.Time,
		Sidechain: item.Sidechain, Meta: item.Meta, FromPerson: item.IsFromPerson(), Begins: item.Begins(), Ends: item.Ends(),
		Last: item.Last, Text: item.Text, Failed: view.After(item.Failure), Images: item.Images, Size: item.Size}
	if item.Kind == transcript.LocalOutput && item.Command == "!" {
		shown.Bash = transcript.BashCommand(item.At)
	}
	if r := item.Rest; r != nil {
		shown.Rest = &talk.Rest{Offset: r.Offset, Length: r.Length, Raw: r.Raw}
		if !r.Raw {
			shown.Rest.Most = transcript.Budget()
		}
	}
	if t := item.Tool; t != nil {
		shown.Tool = &talk.Tool{ID: t.ID, Name: t.Name, Failed: t.IsError, Denied: t.Denial != ""}
		if item.Kind == transcript.ToolUse {
			shown.Tool.Step = t.Step()
		}
		shown.Tool.Background = item.StartsTask()
	}
	if call, failed, ok := item.EndsTask(); ok {
		shown.Kind, shown.Tool = talk.TaskEnded, &talk.Tool{ID: call, Failed: failed}
	}
	return shown
}
