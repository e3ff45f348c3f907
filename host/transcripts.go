package host

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/agent/history"
	"ccbot/internal/ownfile"
	"ccbot/internal/watch"
	"ccbot/lifecycle/view"
	"ccbot/port/folders"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// Transcripts reads the transcripts of this machine. It implements the chat's port. For each open
// session it keeps the transcript open that was read last.
type Transcripts struct {
	Agents  agent.Agents
	Records AllRecords
	Watch   *watch.Watcher
	Tickets *Tickets
	Log     *slog.Logger

	mu   sync.Mutex
	kept map[uuid.UUID]*follower // those that no call reads at the moment
}

// follower is an open transcript, with the place from which it continues.
type follower struct {
	agent.Items
	at talk.Cursor
}

// keptAhead is the number of bytes of texts that one call returns; the last text may be longer.
const keptAhead = 1 << 20

// Next implements [talk.Transcripts].
func (t *Transcripts) Next(ctx context.Context, session uuid.UUID, from talk.Cursor, most int, wait bool) ([]talk.Item, error) {
	r, _ := t.Records.Get(session)
	last := slices.IndexFunc(r.Cursors, func(c talk.Cursor) bool { return c.Path == from.Path }) == len(r.Cursors)-1
	written := last && r.State.Live()
	over := func(item talk.Item) bool { // written in a terminal after the session's end
		return last && !written && r.TranscriptEnd > 0 && item.At.Offset >= r.TranscriptEnd
	}
	f := t.take(t.Agents.Of(r.AgentName), session, from)
	var items []talk.Item
	var failed error
	for size := int64(0); len(items) < most && size < keptAhead; {
		item, failure, ok, err := f.Now()
		if !ok && err == nil && wait && written && len(items) == 0 {
			item, failure, err = f.Items.Next(ctx)
			ok = err == nil
		}
		if !ok || over(item) {
			failed = err
			break
		}
		item.Failed = view.After(failure)
		items, f.at = append(items, item), item.Next
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
func (t *Transcripts) take(by agent.Agent, session uuid.UUID, from talk.Cursor) *follower {
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
	return &follower{by.Replies.Follow(from, t.Watch, t.Log), from}
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

// by returns the agent that writes a transcript. A forgotten session's is the default one.
func (t *Transcripts) by(path string) agent.Agent {
	for _, r := range t.Records.Shared() {
		if r.AgentName == "" {
			continue
		}
		by := t.Agents.Of(r.AgentName)
		written := func(conversation uuid.UUID) bool { return by.Transcripts.Sibling(path, conversation) == path }
		if written(r.AgentSessionID) || slices.ContainsFunc(r.EarlierSessionIDs, written) {
			return by
		}
	}
	return t.Agents.Of("")
}

// Between returns the texts between two cursors, or the last answer.
func (t *Transcripts) Between(ctx context.Context, from *talk.Cursor, before talk.Cursor) (items []talk.Item, cut bool, err error) {
	cut, err = t.by(before.Path).Excerpts.Between(ctx, from, before, func(item talk.Item, failure talk.Failure) {
		item.Failed = view.After(failure)
		items = append(items, item)
	})
	return items, cut, err
}

// Image implements [talk.Pictures].
func (t *Transcripts) Image(_ context.Context, at talk.Cursor, image talk.Image) (folders.File, error) {
	return t.ticket(t.by(at.Path).Excerpts.Image(at, image))
}

// Words implements [talk.Pictures].
func (t *Transcripts) Words(_ context.Context, at talk.Cursor, rest talk.Rest, beyond bool) (folders.File, error) {
	return t.ticket(t.by(at.Path).Excerpts.Words(at, rest, beyond))
}

// ticket makes a ticket for a part of a transcript. A transcript only grows.
func (t *Transcripts) ticket(content history.Content, err error) (folders.File, error) {
	if err != nil {
		return folders.File{}, err
	}
	return t.Tickets.read("", "", content.Size, content.Body, nil), nil
}

// End finds the present end of a transcript.
func (t *Transcripts) End(_ context.Context, of talk.Cursor) (talk.Cursor, error) {
	end, err := t.by(of.Path).Transcripts.End(of.Path)
	return end, refused(err)
}

// refused returns the refusal that an error of a transcript is, or the error.
func refused(err error) error {
	switch {
	case errors.Is(err, history.ErrTruncated):
		return &refusal.Error{Code: refusal.Replaced, Err: err}
	case errors.Is(err, ownfile.ErrForeign):
		return &refusal.Error{Code: refusal.FileIrregular, Err: err}
	}
	return err
}
