package bot

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"ccbot/internal/session"
)

// lanes does the jobs of one conversation one after the other, and those of
// different ones side by side: a chat that Telegram holds up holds up no other.
// What is added before Run waits for it.
type lanes struct {
	wake chan struct{}

	mu    sync.Mutex
	queue map[session.Conversation][]func(ctx context.Context) // a conversation with a worker has an entry
	fresh []session.Conversation                               // have jobs and no worker yet
}

func newLanes() *lanes {
	return &lanes{wake: make(chan struct{}, 1), queue: make(map[session.Conversation][]func(ctx context.Context))}
}

// add puts a job at the end of its conversation's lane.
func (l *lanes) add(to session.Conversation, job func(ctx context.Context)) {
	l.mu.Lock()
	if _, busy := l.queue[to]; !busy {
		l.fresh = append(l.fresh, to)
	}
	l.queue[to] = append(l.queue[to], job)
	l.mu.Unlock()
	poke(l.wake)
}

// Run works until ctx ends. A job that is under way then is waited for.
func (l *lanes) Run(ctx context.Context) error {
	var g errgroup.Group
	for {
		for _, to := range l.takeFresh() {
			g.Go(func() error { l.work(ctx, to); return nil })
		}
		select {
		case <-ctx.Done():
			return g.Wait()
		case <-l.wake:
		}
	}
}

func (l *lanes) takeFresh() []session.Conversation {
	l.mu.Lock()
	defer l.mu.Unlock()
	fresh := l.fresh
	l.fresh = nil
	return fresh
}

func (l *lanes) work(ctx context.Context, to session.Conversation) {
	for ctx.Err() == nil {
		job, ok := l.next(to)
		if !ok {
			return
		}
		job(ctx)
	}
}

// next takes a lane's next job; false ends its worker.
func (l *lanes) next(to session.Conversation) (func(ctx context.Context), bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	jobs := l.queue[to]
	if len(jobs) == 0 {
		delete(l.queue, to)
		return nil, false
	}
	l.queue[to] = jobs[1:]
	return jobs[0], true
}

// poke wakes who waits at a channel, unless that is under way already.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
