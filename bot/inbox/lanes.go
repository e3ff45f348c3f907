package inbox

import (
	"context"
	"slices"
	"sync"

	"github.com/go-telegram/bot/models"

	"ccbot/internal/session"
)

// lane is what is handled in order: the messages of one conversation, or the
// taps on one message. So a tap waits for no message, and [Stop] on one card for
// no tap on another, while a double tap stays one after the other. A message waits
// until the taps before it are decided.
type lane struct {
	where session.Conversation
	taps  bool
	on    int // the message tapped
}

// job is one update to handle: an entry's key, or a tap itself.
type job struct {
	key  string
	tap  *models.Update
	left bool // an entry that an earlier run has left behind
	late bool // a tap that may be too old to be meant
	// decided is called when a tap is decided; after are the taps before a message,
	// each closed when it is decided.
	decided func()
	after   []<-chan struct{}
}

// lanes queues jobs. A lane has a worker while it has jobs, and none when it is
// idle.
type lanes struct {
	mu    sync.Mutex
	work  func(lane) // starts a lane's worker; nil while nothing runs
	queue map[lane][]job
	taps  map[session.Conversation][]<-chan struct{} // not decided yet, in order
	wg    sync.WaitGroup
}

func newLanes() lanes {
	return lanes{queue: make(map[lane][]job), taps: make(map[session.Conversation][]<-chan struct{})}
}

// add queues a job; the first of an idle lane starts its worker.
func (l *lanes) add(in lane, j job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if in.taps {
		j.decided = l.undecidedLocked(in.where)
	} else {
		j.after = slices.Clone(l.taps[in.where])
	}
	_, busy := l.queue[in]
	l.queue[in] = append(l.queue[in], j)
	if !busy && l.work != nil {
		l.work(in)
	}
}

// undecidedLocked has the later messages of a conversation wait for a tap until the
// function is called.
func (l *lanes) undecidedLocked(where session.Conversation) (decided func()) {
	tap := make(chan struct{})
	l.taps[where] = append(l.taps[where], tap)
	return sync.OnceFunc(func() {
		close(tap)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.taps[where] = slices.DeleteFunc(l.taps[where], func(one <-chan struct{}) bool { return one == tap })
		if len(l.taps[where]) == 0 {
			delete(l.taps, where)
		}
	})
}

// next takes the lane's next job; false ends the worker.
func (l *lanes) next(in lane) (job, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	jobs := l.queue[in]
	if len(jobs) == 0 {
		delete(l.queue, in)
		return job{}, false
	}
	l.queue[in] = jobs[1:]
	return jobs[0], true
}

// open lets workers run, each calling do until ctx ends. limit is how many lanes
// of messages, and how many of taps, are at work at once.
func (l *lanes) open(ctx context.Context, limit int, do func(context.Context, lane, job)) {
	messages, taps := make(chan struct{}, limit), make(chan struct{}, limit)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.work = func(in lane) {
		slots := messages
		if in.taps {
			slots = taps
		}
		l.wg.Go(func() { l.drain(ctx, in, slots, do) })
	}
	for in := range l.queue {
		l.work(in)
	}
}

func (l *lanes) drain(ctx context.Context, in lane, slots chan struct{}, do func(context.Context, lane, job)) {
	for ctx.Err() == nil {
		j, ok := l.next(in)
		if !ok {
			return
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		do(ctx, in, j)
		<-slots
	}
}

// close starts no more workers and waits for those at work, whose context the
// caller has ended.
func (l *lanes) close() {
	l.mu.Lock()
	l.work = nil
	l.mu.Unlock()
	l.wg.Wait()
}
