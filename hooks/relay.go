package hooks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/internal/hookwire"
	"ccbot/internal/logkey"
	"ccbot/internal/process"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// Errors of the relay, matched with errors.Is.
var (
	ErrNotWaiting = refusal.New(refusal.NotFound, "no hook waits with this request")
	ErrRefused    = errors.New("the request is refused")
)

// Listener is notified of requests. The calls about one request come one after the other; calls
// about different requests may come at the same time.
type Listener interface {
	// OnRequest is called when a request waits, and again with the same request after its hook has
	// redialled. The request must be durable when OnRequest returns. An error leaves the request to
	// the terminal. OnRequest may call Decide and Leave for this request: they act at once.
	OnRequest(ctx context.Context, q Request) error
	// OnLeft is called when the hook of a request that OnRequest took is gone without an answer. When
	// the program stops, every connection ends and OnLeft is called for each, although the hooks will
	// redial: a listener in the same program looks at its own context first.
	OnLeft(ctx context.Context, q Request)
}

// Relay passes requests to the listener, and the listener's decisions to the hooks that wait.
type Relay struct {
	// Changed is called with a session when one of its requests has begun to wait (after the
	// listener has it) or has ceased to wait. It may be nil.
	Changed func(session uuid.UUID)

	listener Listener
	now      func() time.Time
	log      *slog.Logger

	mu       sync.Mutex
	requests map[string]*request
}

// request exists for a request id as long as at least one connection is in Wait with that id.
type request struct {
	turn    chan struct{} // one slot: its holder may call the listener about this request
	inside  int           // connections in Wait; the last one removes the request
	current *connection   // the newest connection; nil when none is waiting
	taken   bool          // OnRequest took the request, and OnLeft was not called since
}

// connection is one call of Wait.
type connection struct {
	q      Request
	by     agent.Asks // of the agent that asks
	since  time.Time
	ended  chan struct{} // closed when the wait has ended
	answer Decision      // nil: none
}

// NewRelay makes a relay that still needs a listener. now is the clock.
func NewRelay(now func() time.Time, log *slog.Logger) *Relay {
	return &Relay{now: now, log: log, requests: make(map[string]*request)}
}

// Connect sets the listener. It is called once, before the first Wait.
func (r *Relay) Connect(l Listener) { r.listener = l }

// Wait reports a request to the listener and waits for its decision; nil means to leave the request
// to the terminal. by is of the agent that asks. ctx is the connection's context: when it ends, the
// listener's OnLeft is called. A newer connection of the same hook replaces an older one, and Wait
// of the older one returns nil. ErrRefused means that another process holds that id.
func (r *Relay) Wait(ctx context.Context, by agent.Asks, q Request) (Decision, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	req, c, err := r.enter(by, q)
	if err != nil {
		return nil, err
	}
	defer r.changed(q.Session)
	defer r.exit(q.ID, req)
	if err := r.ask(ctx, req, c); err != nil {
		return nil, err
	}
	r.changed(q.Session)
	select {
	case <-c.ended:
	case <-ctx.Done():
		r.left(ctx, req, c)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log.Debug("permission_wait_over", logkey.Request, q.ID, logkey.Decided, c.answer != nil, logkey.Waited, r.now().Sub(c.since))
	return c.answer, nil
}

// enter makes a new connection the one that waits with the request.
func (r *Relay) enter(by agent.Asks, q Request) (*request, *connection, error) {
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
	req.current = &connection{q: q, by: by, since: r.now(), ended: make(chan struct{})}
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

// ask calls OnRequest, unless c was replaced or ended while an earlier call about the request was
// running.
func (r *Relay) ask(ctx context.Context, req *request, c *connection) error {
	select {
	case req.turn <- struct{}{}:
	case <-c.ended:
		return nil
	case <-ctx.Done():
		return nil // Wait sees it too
	}
	defer func() { <-req.turn }()
	r.mu.Lock()
	waits := req.current == c
	r.mu.Unlock()
	if !waits {
		return nil
	}
	err := r.listener.OnRequest(ctx, c.q)
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		req.taken = req.current != nil // if the wait ended during the call, no OnLeft is due
		return nil
	}
	// A decision made in spite of the error counts: OnRequest may decide at once.
	if !r.dropped(req, c) {
		r.log.Warn("permission_ask_failed", logkey.Request, c.q.ID, logkey.Error, err)
		return nil
	}
	r.notifyLeft(ctx, req, c)
	return fmt.Errorf("permission request %s: %w", c.q.ID, err)
}

// left ends the wait of a connection that broke.
func (r *Relay) left(ctx context.Context, req *request, c *connection) {
	// Before the slot is free the hook may redial: then this connection is no longer the current
	// one.
	req.turn <- struct{}{}
	defer func() { <-req.turn }()
	if r.dropped(req, c) {
		r.notifyLeft(ctx, req, c)
	}
}

// notifyLeft calls OnLeft if it is due. The caller holds the request's turn.
func (r *Relay) notifyLeft(ctx context.Context, req *request, c *connection) {
	r.mu.Lock()
	taken := req.taken
	req.taken = false
	r.mu.Unlock()
	if taken {
		r.listener.OnLeft(context.WithoutCancel(ctx), c.q)
	}
}

// dropped ends the wait of c; false when c had already ceased to wait.
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

// Decide sends a decision to the hook that waits with the request. It returns ErrNotWaiting if no
// hook waits, so a decision is taken once per connection, and the refusal of agent.Asks if the
// answer is to another content. A decision for a connection that then broke must be sent again when
// OnRequest is called again for the request.
func (r *Relay) Decide(_ context.Context, id string, a talk.Answer) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	req := r.requests[id]
	if req == nil || req.current == nil {
		return fmt.Errorf("request %s: %w", id, ErrNotWaiting)
	}
	d, err := req.current.by.Decide(req.current.q, a)
	if err != nil {
		return fmt.Errorf("request %s: %w", id, err)
	}
	req.current.answer = d
	req.endLocked()
	return nil
}

// Leave ends a wait without a decision: the terminal decides. OnLeft is not called, and a
// request that does not wait is no error.
func (r *Relay) Leave(_ context.Context, id string) {
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

// Waiting returns the requests of a session that wait, oldest first.
func (r *Relay) Waiting(_ context.Context, session uuid.UUID) []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []Request
	for _, req := range r.requests {
		if req.current != nil && req.current.q.Session == session {
			list = append(list, req.current.q)
		}
	}
	slices.SortFunc(list, func(a, b Request) int {
		return cmp.Or(a.RequestedAt.Compare(b.RequestedAt), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// Request is one request that an agent waits for. Its terminal shows the same dialog at
// the same time.
type Request = talk.Request

// NewRequest makes the request of an ask of an agent. session, who and hook come from the kernel's
// data about the socket's peer, never from the ask. The error is talk.ErrBadRequest when something
// required is missing or makes no sense.
func NewRequest(by agent.Asks, id string, session uuid.UUID, who, hook process.Identity, a hookwire.Ask) (Request, error) {
	if _, err := uuid.Parse(a.SessionID); err != nil {
		return Request{}, fmt.Errorf("session id: %w: %w", talk.ErrBadRequest, err)
	}
	if !who.Valid() || !hook.Valid() {
		return Request{}, fmt.Errorf("process: %w", talk.ErrBadRequest)
	}
	q := Request{
		ID: id, Session: session, Agent: who.Text(), Hook: hook.Text(),
		Transcript: a.TranscriptPath, Offset: max(a.TranscriptSize, 0), Cwd: a.Cwd, Mode: a.PermissionMode,
		Tool: a.Tool, Input: a.Input, Suggestions: a.Suggestions, SubagentID: a.AgentID, Subagent: a.AgentType,
		RequestedAt: a.Received.UTC(),
	}
	if err := q.Check(); err != nil {
		return q, err
	}
	q.Ask = by.Of(q)
	return q, nil
}

// Decision is the output of the hook, in the shape that the agent expects.
type Decision = json.RawMessage
