package inbox

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-telegram/bot/models"

	"ccbot/internal/address"
	"ccbot/internal/cuttext"
	"ccbot/internal/pause"
)

// queueKey is one sequence of jobs that are handled in order: the messages of one conversation, the
// taps on one message, or an unfinished disk step. So taps do not wait for messages, and [Stop] on
// a card does not wait for another card, while the two halves of a double tap run in order. A
// message waits until the taps before it are decided.
type queueKey struct {
	where address.Conversation
	taps  bool
	on    int    // the message tapped
	rest  string // the key of an entry with a remaining disk step
}

type job struct {
	key       string
	tap       *models.Update
	unkept    func(ctx context.Context) error // see Config.Unkept
	step      func() error                    // the remaining disk step of a handled entry
	failed    *Failure                        // it was given up, and must be reported
	left      bool                            // an entry of an earlier run
	late      bool                            // a tap that may be too old to be still intended
	came      time.Time
	from      int64        // the sender of a new message; 0: unknown, or another kind
	album     string       // media_group_id of a new message
	text      cuttext.Part // that the new message may be a part of
	rest      []string     // the keys of the album's or cut text's other messages
	straggler bool         // the album was handed on before this came
	failures  pause.Backoff
	reported  bool              // the wait was reported to the person
	decided   func()            // called when a tap is decided
	after     []<-chan struct{} // the taps before a message, each closed when it is decided
}

type jobQueues struct {
	mu     sync.Mutex
	work   func(queueKey) // starts a queue's worker; nil while not running
	queue  map[queueKey][]job
	taps   map[address.Conversation][]<-chan struct{} // not decided yet, in order
	more   chan struct{}                              // closed when a job arrives
	passed map[string]time.Time                       // the albums of the last hour that were handed on
	ending chan struct{}                              // closed when no further message may begin
	wg     sync.WaitGroup
}

func newJobQueues() jobQueues {
	return jobQueues{queue: make(map[queueKey][]job), taps: make(map[address.Conversation][]<-chan struct{}),
		more: make(chan struct{}), ending: make(chan struct{}), passed: make(map[string]time.Time)}
}

func (q *jobQueues) add(in queueKey, j job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if in.taps {
		j.decided = q.undecidedLocked(in.where)
	} else {
		j.after = slices.Clone(q.taps[in.where])
	}
	_, busy := q.queue[in]
	q.queue[in] = append(q.queue[in], j)
	close(q.more)
	q.more = make(chan struct{})
	if !busy && q.work != nil {
		q.work(in)
	}
}

// undecidedLocked makes the later messages of a conversation wait for a tap until decided is
// called.
func (q *jobQueues) undecidedLocked(where address.Conversation) (decided func()) {
	tap := make(chan struct{})
	q.taps[where] = append(q.taps[where], tap)
	return sync.OnceFunc(func() {
		close(tap)
		q.mu.Lock()
		defer q.mu.Unlock()
		q.taps[where] = slices.DeleteFunc(q.taps[where], func(one <-chan struct{}) bool { return one == tap })
		if len(q.taps[where]) == 0 {
			delete(q.taps, where)
		}
	})
}

// next removes the queue's next job; a job without a key ends the worker. If pause is set, no job
// is removed: the album or text may become whole until then, or when a new job closes more.
func (q *jobQueues) next(in queueKey) (j job, pause time.Duration, more <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queue[in]) == 0 || !in.taps && isClosed(q.ending) {
		delete(q.queue, in)
		return job{}, 0, nil
	}
	j, behind, pause := firstOf(q.queue[in], time.Now())
	if pause > 0 {
		return job{}, pause, q.more
	}
	q.queue[in] = behind
	if j.album != "" {
		maps.DeleteFunc(q.passed, func(_ string, at time.Time) bool { return time.Since(at) > quiet })
		_, j.straggler = q.passed[j.album]
		q.passed[j.album] = time.Now()
	}
	return j, 0, nil
}

// pass notes that an album was handed on.
func (q *jobQueues) pass(album string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.passed[album] = time.Now()
}

// open starts workers, each calling do until ctx ends. A job with a pause waits without a slot, so
// that other conversations continue. limit bounds the running queues of messages, and those of
// taps.
func (q *jobQueues) open(ctx context.Context, limit int, do func(context.Context, queueKey, *job) (again time.Duration)) {
	messages, taps := make(chan struct{}, limit), make(chan struct{}, limit)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.work = func(in queueKey) {
		slots := messages
		if in.taps {
			slots = taps
		}
		q.wg.Go(func() { q.drain(ctx, in, slots, do) })
	}
	for in := range q.queue {
		q.work(in)
	}
}

func (q *jobQueues) drain(ctx context.Context, in queueKey, slots chan struct{}, do func(context.Context, queueKey, *job) time.Duration) {
	for ctx.Err() == nil {
		j, quiet, more := q.next(in)
		if quiet > 0 { // without a slot: other conversations continue
			pause.Until(ctx, quiet, more)
			continue
		}
		if j.key == "" {
			return
		}
		await(ctx, tapTimeout, j.after)
		for again := time.Duration(0); ; {
			if again > 0 && (pause.Until(ctx, again, q.ending) || ctx.Err() != nil) {
				return
			}
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			again = do(ctx, in, &j)
			<-slots
			if again == 0 {
				break
			}
		}
	}
}

// finish waits for the running messages and all taps, and begins no other message: those are on
// disk.
func (q *jobQueues) finish() {
	q.mu.Lock()
	close(q.ending)
	close(q.more) // wakes workers that wait for an album
	q.more = make(chan struct{})
	q.mu.Unlock()
	q.wg.Wait()
}

// tapTimeout is the longest wait of a message for the taps before it: a tap may wait for one that
// hangs, and /stop must not wait for that.
const tapTimeout = 3 * time.Second

func isClosed(one <-chan struct{}) bool {
	select {
	case <-one:
		return true
	default:
		return false
	}
}

func await(ctx context.Context, d time.Duration, all []<-chan struct{}) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	for _, one := range all {
		select {
		case <-one:
		case <-ctx.Done():
			return
		}
	}
}

// close starts no more workers and waits for the running ones, whose context the caller has ended.
func (q *jobQueues) close() {
	q.mu.Lock()
	q.work = nil
	q.mu.Unlock()
	q.wg.Wait()
}
