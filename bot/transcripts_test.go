package bot

import (
	"context"
	"sync"
	"time"

	"ccbot/bot/port/talk"
	"ccbot/host"
)

// transcripts are those of the disk, and tell how far readers are.
type transcripts struct {
	host.Transcripts
	polls bool                 // a reader that waits holds no inotify instance, which no bubble of fake time can wait for
	gives func(item talk.Item) // before a reader gets an item

	mu      sync.Mutex
	waiting context.Context // of the reader that asked last
	waits   chan struct{}   // closed when a reader waits for more than there is
}

// untilOneWaits is closed when a reader has read all there is, from now on.
func (f *transcripts) untilOneWaits() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waits = make(chan struct{})
	return f.waits
}

// lastWaiting is the context in which a reader has asked for an item last.
func (f *transcripts) lastWaiting() context.Context {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.waiting
}

func (f *transcripts) Follow(from talk.Cursor) talk.Stream {
	return &watchedStream{f, f.Transcripts.Follow(from)}
}

type watchedStream struct {
	of *transcripts
	talk.Stream
}

func (s *watchedStream) Next(ctx context.Context) (talk.Item, error) {
	s.of.mu.Lock()
	s.of.waiting = ctx
	s.of.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return talk.Item{}, err
	}
	for {
		item, ok, err := s.Now()
		if ok || err != nil {
			return item, err
		}
		s.of.oneWaits()
		if !s.of.polls {
			item, err := s.Stream.Next(ctx)
			return s.give(item, err == nil), err
		}
		select {
		case <-ctx.Done():
			return talk.Item{}, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (s *watchedStream) Now() (talk.Item, bool, error) {
	item, ok, err := s.Stream.Now()
	return s.give(item, ok), ok, err
}

func (s *watchedStream) give(item talk.Item, ok bool) talk.Item {
	if ok && s.of.gives != nil {
		s.of.gives(item)
	}
	return item
}

func (f *transcripts) oneWaits() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waits != nil {
		close(f.waits)
		f.waits = nil
	}
}
