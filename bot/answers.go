package bot

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/internal/session"
	"ccbot/internal/transcript"
)

// answers shows in the chat what agents write into their transcripts: one
// reader per session. A cursor advances only after the Bot API took the part or
// refused it for good, or after the notice that counts as the answer (P5).
type answers struct {
	*Bot
	wake   chan struct{}
	settle time.Duration // settleAfter

	mu      sync.Mutex
	news    map[uuid.UUID]chan struct{}        // tells a session's reader to look at its record again
	left    map[uuid.UUID]chan struct{}        // of the same readers: closed when it leaves
	waiting []uuid.UUID                        // sessions that have no reader yet
	opened  map[uuid.UUID]session.Conversation // where people want to see a session's last answer
	parked  map[int64]chan struct{}            // of chats that a reader waits for: closed when somebody there has written
}

func newAnswers(b *Bot) *answers {
	return &answers{Bot: b, wake: make(chan struct{}, 1), settle: settleAfter, news: make(map[uuid.UUID]chan struct{}),
		left: make(map[uuid.UUID]chan struct{}), opened: make(map[uuid.UUID]session.Conversation),
		parked: make(map[int64]chan struct{})}
}

// follow makes sure that a session has a reader, and tells it to look again: a
// new transcript, or the end of the session.
func (a *answers) follow(r session.Record) {
	a.mu.Lock()
	news, ok := a.news[r.ID]
	if !ok {
		news = make(chan struct{}, 1)
		a.news[r.ID], a.left[r.ID] = news, make(chan struct{})
		a.waiting = append(a.waiting, r.ID)
	}
	poke(news) // with the lock held: the reader must not leave in between
	a.mu.Unlock()
	poke(a.wake)
}

// nudge tells a session's reader, if it has one, to look again.
func (a *answers) nudge(id uuid.UUID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if news, ok := a.news[id]; ok {
		poke(news)
	}
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Run reads for every session that may have something unsaid.
func (a *answers) Run(ctx context.Context) error {
	for _, r := range a.Records.List() {
		if len(r.Cursors) > 0 {
			a.follow(r)
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	for {
		for _, id := range a.takeWaiting() {
			g.Go(func() error { return a.read(ctx, id) })
		}
		select {
		case <-ctx.Done():
			return g.Wait()
		case <-a.wake:
		}
	}
}

func (a *answers) takeWaiting() []uuid.UUID {
	a.mu.Lock()
	defer a.mu.Unlock()
	ids := a.waiting
	a.waiting = nil
	return ids
}

// read is one session's reader. It reads the first of the record's transcripts
// to its end, waits there while the session lives and no newer one is known,
// and goes on to the next. It ends with the session.
func (a *answers) read(ctx context.Context, id uuid.UUID) error {
	a.mu.Lock()
	news := a.news[id]
	a.mu.Unlock()
	a.awaitSource(ctx, id)
	var s streak
	for ctx.Err() == nil {
		r, ok := a.Records.Get(id)
		a.showRecalled(ctx, r)
		if !ok || len(r.Cursors) == 0 || !a.MayShow(r.Conversation) {
			if !a.sleep(ctx, id, news, ok && r.State.Live()) {
				return nil
			}
			continue
		}
		if a.Sender.Parked(r.Conversation.ChatID) {
			a.awaitUnparked(ctx, r.Conversation.ChatID, news)
			continue
		}
		last := len(r.Cursors) == 1
		err := a.readOne(ctx, r, news)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			a.stumble(ctx, r, news, &s, err)
			continue
		case last && !r.State.Live() && a.leave(id, news):
			return nil
		}
		s = streak{}
	}
	return nil
}

// readOne shows the first of the record's transcripts, and goes on to the next
// where there is one.
func (a *answers) readOne(ctx context.Context, r session.Record, news chan struct{}) error {
	last := len(r.Cursors) == 1
	err := a.readFile(ctx, r, news, last && r.State.Live())
	if err == nil && !last && ctx.Err() == nil && !a.advance(ctx, r.ID, r.Cursors[1]) {
		return errNotSaved
	}
	return err
}

// sleep waits for news of a session that has nothing to read; without life in
// it the reader leaves.
func (a *answers) sleep(ctx context.Context, id uuid.UUID, news chan struct{}, live bool) bool {
	if !live {
		return !a.leave(id, news)
	}
	select {
	case <-ctx.Done():
		return false
	case <-news:
		return true
	}
}

// leave ends a reader unless there is news it has not looked at.
func (a *answers) leave(id uuid.UUID, news chan struct{}) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(news) > 0 {
		<-news
		return false
	}
	close(a.left[id])
	delete(a.news, id)
	delete(a.left, id)
	return true
}

// advance notes how far the chat has a transcript; false says that it is not on
// disk.
func (a *answers) advance(ctx context.Context, id uuid.UUID, c transcript.Cursor) bool {
	err := a.Sessions.Advance(context.WithoutCancel(ctx), id, c)
	if r, ok := a.Records.Get(id); err == nil && ok && a.Successor(r).ID != id {
		err = a.Sessions.Advance(context.WithoutCancel(ctx), a.Successor(r).ID, c) // which has the cursors by now
	}
	if err != nil && !errors.Is(err, session.ErrNotFound) {
		a.Log.Error("cursor_not_saved", "session_id", id.String(), "error", err.Error())
		return false
	}
	return true
}

// parkedLook is how often a reader looks at a chat that takes nothing, in case
// that nobody told it of a change.
const parkedLook = time.Minute

// awaitUnparked waits until somebody in a chat that takes nothing has written, or
// there is news of the session: it may be shown elsewhere by now.
func (a *answers) awaitUnparked(ctx context.Context, chat int64, news chan struct{}) {
	a.mu.Lock()
	c, ok := a.parked[chat]
	if !ok {
		c = make(chan struct{})
		a.parked[chat] = c
	}
	a.mu.Unlock()
	if !a.Sender.Parked(chat) {
		return // since the channel is there nothing is missed
	}
	t := time.NewTimer(parkedLook)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-c:
	case <-news:
	case <-t.C:
	}
}

// unparked hears that a chat may take messages again.
func (a *answers) unparked(chat int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c, ok := a.parked[chat]; ok {
		close(c)
		delete(a.parked, chat)
	}
}
