package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/time/rate"

	"ccbot/fleet/beat"
	"ccbot/fleet/rights"
	"ccbot/fleet/seal"
	"ccbot/fleet/wire"
	"ccbot/internal/pause"
)

// maxCalls is the number of calls that a host makes at a time. Another one is not made, and its
// caller learns from the beats that it was lost.
const maxCalls = 256

// Settings are the parameters of NewServer.
type Settings struct {
	Conn  *nats.Conn
	Names rights.Names
	Host  string // id
	Link  *seal.Link
	// Answer makes a call, see wire.Server. It is called concurrently.
	Answer func(ctx context.Context, e wire.Envelope) wire.Envelope
	// About returns the next beat. Calls are filled in.
	About func() Beat
	// Greet sends a hello, as long as the chat has not told the present epoch.
	Greet func(ctx context.Context)
	// Tick is called in each interval of beats. It may be nil.
	Tick func()
}

// Server makes the calls of the chat on this host.
type Server struct {
	Settings
	budget  *rate.Limiter
	due     chan struct{} // has an item if a beat is due
	running sync.WaitGroup

	mu      sync.Mutex
	calls   map[string]*made
	stopped bool
}

// made is a call that arrives or is being made.
type made struct {
	parts  assembly
	whole  bool
	heard  time.Time // the last part
	cancel context.CancelFunc
}

// NewServer returns a Server. It needs Run.
func NewServer(s Settings) *Server {
	return &Server{Settings: s, budget: rate.NewLimiter(Rate, MostBytes), due: make(chan struct{}, 1), calls: make(map[string]*made)}
}

// Beat makes the next beat due at once, such as after the chat's first message.
func (s *Server) Beat() { pause.Poke(s.due) }

// Run makes calls and sends beats until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	sub, err := subscribe(s.Conn, s.Names.Request(s.Host), func(m *nats.Msg) { s.receive(ctx, m.Data) })
	if err != nil {
		return err
	}
	defer s.stop(sub)
	ticker := time.NewTicker(beat.Interval)
	defer ticker.Stop()
	for {
		s.beat(ctx)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		case <-s.due:
		}
	}
}

// stop ends the reads, and waits for the calls, whose context has ended.
func (s *Server) stop(sub *nats.Subscription) {
	_ = sub.Unsubscribe() // the connection may have ended
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	s.running.Wait()
	sayGoodbye(s.Conn, s.Link, s.Names.Answer(s.Host))
}

// sayGoodbye lets the next start of this end take its place at once. Without it that takes a few beats.
func sayGoodbye(conn *nats.Conn, l *seal.Link, subject string) {
	if sealed, err := l.Seal(seal.Message{Kind: seal.Bye}); err == nil && conn.IsConnected() {
		_ = conn.Publish(subject, sealed)
	}
}

func (s *Server) start(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stopped {
		s.running.Go(do)
	}
}

// beat sends a beat, or a hello as long as the seals have no epoch.
func (s *Server) beat(ctx context.Context) {
	isConnected := s.Conn.IsConnected()
	s.Link.Tick(isConnected)
	if s.Tick != nil {
		s.Tick()
	}
	if !isConnected { // the client would keep it
		return
	}
	if !s.Link.HasEpoch() {
		s.Greet(ctx)
		return
	}
	b := s.About()
	s.mu.Lock()
	maps.DeleteFunc(s.calls, func(_ string, call *made) bool { return !call.whole && time.Since(call.heard) > beat.Timeout })
	b.Calls = slices.Sorted(maps.Keys(s.calls))
	s.mu.Unlock()
	data, err := json.Marshal(b)
	if err != nil {
		return
	}
	if sealed, err := s.Link.Seal(seal.Message{Kind: seal.Beat, Body: data}); err == nil {
		_ = s.Conn.Publish(s.Names.Answer(s.Host), sealed) // the chat misses it
	}
}

func (s *Server) receive(ctx context.Context, sealed []byte) {
	m, err := s.Link.Open(sealed)
	if errors.Is(err, seal.ErrEpoch) && !s.Link.HasEpoch() || errors.Is(err, seal.ErrLife) {
		s.Beat() // with a hello or for the chat's decision; the hub can repeat an old message without end
	}
	if err != nil {
		return
	}
	switch m.Kind {
	case cancelKind:
		s.cancel(m.ID)
	case callKind:
		if m.Late { // the chat has given it up, and the person may have decided otherwise
			return
		}
		if e, ctx, ok := s.take(ctx, m); ok {
			s.start(func() { s.call(ctx, m.ID, e) })
		}
	}
}

func (s *Server) cancel(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if call := s.calls[id]; call != nil {
		call.cancel()
		if !call.whole {
			delete(s.calls, id)
		}
	}
}

// take takes a part of a call. It returns the call with its context if no part is missing.
func (s *Server) take(ctx context.Context, m seal.Message) (e wire.Envelope, of context.Context, complete bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	call := s.calls[m.ID]
	if call == nil {
		if len(s.calls) >= maxCalls {
			return e, nil, false
		}
		call = &made{cancel: func() {}}
		s.calls[m.ID] = call
	}
	call.heard = time.Now()
	data, complete, err := call.parts.add(m.Body)
	if err != nil || !complete {
		return e, nil, false
	}
	if e, err = wire.Decode(data); err != nil { // of another version
		delete(s.calls, m.ID)
		return e, nil, false
	}
	call.whole, call.parts = true, assembly{}
	of, call.cancel = context.WithCancel(ctx)
	return e, of, true
}

// call makes a call and sends the answer.
func (s *Server) call(ctx context.Context, id string, e wire.Envelope) {
	a := s.Answer(ctx, e)
	parts, err := encode(a)
	if err != nil {
		a.Body, a.Error = nil, &wire.Error{Text: "the answer is " + err.Error()}
		parts, err = encode(a)
	}
	for i := 0; err == nil && i < len(parts); i++ {
		var sealed []byte
		sealed, err = s.Link.Seal(seal.Message{Kind: answerKind, ID: id, Body: parts[i]})
		if err == nil && !s.budget.AllowN(time.Now(), len(sealed)) { // an answer that need not wait is sent although ctx has ended
			err = s.budget.WaitN(ctx, len(sealed))
		}
		if err == nil {
			err = s.Conn.Publish(s.Names.Answer(s.Host), sealed)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[id].cancel()
	delete(s.calls, id) // without an answer the beats tell the chat that it is lost
}

func encode(e wire.Envelope) ([][]byte, error) {
	data, err := wire.Encode(e)
	if err != nil {
		return nil, err
	}
	return split(data)
}
