package hooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/logkey"
)

// Sentinels of the relay, matched with errors.Is.
var (
	ErrNotWaiting = errors.New("no hook waits with this request")
	ErrRefused    = errors.New("the request is refused")
)

// Listener is told of requests. The calls about one request come one after the other, those about several at once.
type Listener interface {
	// Asked: a request waits; the same again after its hook has redialled. It is durable when Asked returns. An error
	// leaves the hook to the terminal. It may call Decide and Leave for this request: they act at once.
	Asked(ctx context.Context, q Request) error
	// Left: the hook of a request that Asked took is gone without an answer. When the program stops, every connection
	// ends and this is told of each, although the hooks will redial: who runs in the same program looks at its own
	// context first.
	Left(ctx context.Context, q Request)
}

// Relay brings requests to the listener, and its decisions to the hooks that wait.
type Relay struct {
	// Changed hears of a session of which a request has begun to wait, once the listener has it, or has ceased to; nil:
	// nobody does.
	Changed func(session uuid.UUID)

	listener Listener
	now      func() time.Time
	log      *slog.Logger

	mu       sync.Mutex
	requests map[string]*request
}

// request is one request id while at least one connection is in Wait with it.
type request struct {
	turn    chan struct{} // one slot: who holds it may call the listener about this request
	inside  int           // connections in Wait; the last one takes the request away
	current *connection   // the newest; nil when nobody waits any more
	taken   bool          // Asked took it, and no Left was told since
}

// connection is one call of Wait.
type connection struct {
	q       Request
	since   time.Time
	ended   chan struct{} // closed when there is nothing to wait for any more
	answer  Decision
	decided bool
}

// NewRelay makes a relay that still needs a listener. now is the clock.
func NewRelay(now func() time.Time, log *slog.Logger) *Relay {
	return &Relay{now: now, log: log, requests: make(map[string]*request)}
}

// Connect sets the listener: once, before the first Wait.
func (r *Relay) Connect(l Listener) { r.listener = l }

// Wait tells the listener of a request and waits for its decision; false means to leave the request to the terminal.
// ctx is the connection's: when it ends, the listener hears Left. A newer connection of the same hook replaces an older
// one, which then returns false. ErrRefused when another process holds that id.
func (r *Relay) Wait(ctx context.Context, q Request) (Decision, bool, error) {
	if err := q.Check(); err != nil {
		return Decision{}, false, err
	}
	req, c, err := r.enter(q)
	if err != nil {
		return Decision{}, false, err
	}
	defer r.changed(q.Session)
	defer r.exit(q.ID, req)
	if err := r.ask(ctx, req, c); err != nil {
		return Decision{}, false, err
	}
	r.changed(q.Session)
	select {
	case <-c.ended:
	case <-ctx.Done():
		r.left(ctx, req, c)
	}
	d, decided := r.result(c)
	return d, decided, nil
}

// enter makes c the connection that waits with its request.
func (r *Relay) enter(q Request) (*request, *connection, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	req := r.requests[q.ID]
	if req != nil && req.current != nil {
		if old := req.current.q; old.Hook != q.Hook || old.Session != q.Session {
			return nil, nil, fmt.Errorf("request %s of %s is held by %s: %w", q.ID, q.Hook, old.Hook, ErrRefused)
		}
	}
	if req == nil {
		req = &request{turn: make(chan struct{}, 1)}
		r.requests[q.ID] = req
	}
	if req.current != nil {
		close(req.current.ended)
	}
	req.inside++
	req.current = &connection{q: q, since: r.now(), ended: make(chan struct{})}
	return req, req.current, nil
}

func (r *Relay) changed(session uuid.UUID) {
	if r.Changed != nil {
		r.Changed(session)
	}
}

func (r *Relay) exit(id string, req *request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if req.inside--; req.inside == 0 {
		delete(r.requests, id)
	}
}

// ask tells the listener, unless c was replaced or ended while an earlier call about the request was under way.
func (r *Relay) ask(ctx context.Context, req *request, c *connection) error {
	select {
	case req.turn <- struct{}{}:
	case <-c.ended:
		return nil
	case <-ctx.Done():
		return nil // Wait sees it too
	}
	defer func() { <-req.turn }()
	if !r.waits(req, c) {
		return nil
	}
	err := r.listener.Asked(ctx, c.q)
	if err == nil {
		r.took(req)
		return nil
	}
	// A decision made in spite of the error counts: the listener was told that it does.
	if !r.dropped(req, c) {
		r.log.Warn("permission_ask_failed", logkey.Request, c.q.ID, logkey.Error, err.Error())
		return nil
	}
	r.tellLeft(ctx, req, c)
	return fmt.Errorf("permission request %s: %w", c.q.ID, err)
}

// took notes that the listener has the request; a wait that ended meanwhile leaves nothing to be told of.
func (r *Relay) took(req *request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	req.taken = req.current != nil
}

// left ends the wait of a connection that broke.
func (r *Relay) left(ctx context.Context, req *request, c *connection) {
	req.turn <- struct{}{} // before it is over, a redial may come: then this connection is not the current one any more
	defer func() { <-req.turn }()
	if r.dropped(req, c) {
		r.tellLeft(ctx, req, c)
	}
}

// tellLeft is called in the request's turn.
func (r *Relay) tellLeft(ctx context.Context, req *request, c *connection) {
	r.mu.Lock()
	taken := req.taken
	req.taken = false
	r.mu.Unlock()
	if taken {
		r.listener.Left(context.WithoutCancel(ctx), c.q)
	}
}

// dropped makes c wait no more; false when it did not wait any more.
func (r *Relay) dropped(req *request, c *connection) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if req.current != c {
		return false
	}
	req.current = nil
	close(c.ended)
	return true
}

func (r *Relay) waits(req *request, c *connection) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return req.current == c
}

func (r *Relay) result(c *connection) (Decision, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log.Debug("permission_wait_over", logkey.Request, c.q.ID, logkey.Decided, c.decided, logkey.Waited, r.now().Sub(c.since))
	return c.answer, c.decided
}

// Decide gives the hook that waits with a request its decision. ErrNotWaiting when none does, so a decision is taken
// once per connection. One that was handed to a connection that then broke is to be given again when the request comes
// back through Asked.
func (r *Relay) Decide(id string, d Decision) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	req := r.requests[id]
	if req == nil || req.current == nil {
		return fmt.Errorf("request %s: %w", id, ErrNotWaiting)
	}
	req.current.answer, req.current.decided = d, true
	req.endLocked()
	return nil
}

// Leave ends a wait with nothing: the terminal decides. No Left follows, and a request that does not wait is none.
func (r *Relay) Leave(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if req := r.requests[id]; req != nil && req.current != nil {
		req.endLocked()
	}
}

func (req *request) endLocked() {
	close(req.current.ended)
	req.current, req.taken = nil, false
}

// Waiting are the requests of a session that wait, oldest first.
func (r *Relay) Waiting(session uuid.UUID) []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.waitingLocked(session)
}

func (r *Relay) waitingLocked(session uuid.UUID) []Request {
	var list []Request
	for _, req := range r.requests {
		if req.current != nil && req.current.q.Session == session {
			list = append(list, req.current.q)
		}
	}
	slices.SortFunc(list, func(a, b Request) int {
		return cmp.Or(a.Asked.Compare(b.Asked), cmp.Compare(a.ID, b.ID))
	})
	return list
}
