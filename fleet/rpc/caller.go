package rpc

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/time/rate"

	"ccbot/fleet/beat"
	"ccbot/fleet/rights"
	"ccbot/fleet/seal"
	"ccbot/fleet/wire"
	"ccbot/port/refusal"
)

// The kinds of messages, besides those of package channel.
const (
	callKind   = "call"
	cancelKind = "cancel" // of the chat, which no longer needs the answer
	answerKind = "answer"
)

// RightsKind is the kind of the call that gives a host rights which begin now: its body is the JWT.
const RightsKind = "Rights"

// RemovedKind is the kind of the call that tells a host that it was removed.
const RemovedKind = "Removed"

// Rate is the number of bytes that a host may send in a second.
const Rate = 1 << 20

// mostBeat is the size of the largest beat, and the others are its largest figures.
const (
	mostBeat    = 64 << 10
	mostVersion = 64 // bytes
	mostAgents  = 1_000_000
	mostLoad    = 10_000
	mostDisk    = 1 << 60
	mostHeld    = 1_000_000
	mostHeldFor = 365 * 24 * time.Hour
)

// bounded returns a beat with figures that a machine can have: a host may send any. A load that is
// no number is 0.
func (b Beat) bounded() Beat {
	b.Version = strings.ToValidUTF8(b.Version[:min(len(b.Version), mostVersion)], "")
	b.Agents = min(max(b.Agents, 0), mostAgents)
	if b.Load = min(b.Load, mostLoad); !(b.Load >= 0) {
		b.Load = 0
	}
	b.DiskSize = min(max(b.DiskSize, 0), mostDisk)
	b.DiskFree = min(max(b.DiskFree, 0), b.DiskSize)
	b.Held, b.HeldFor = min(max(b.Held, 0), mostHeld), min(max(b.HeldFor, 0), mostHeldFor)
	b.Calls = b.Calls[:min(len(b.Calls), maxCalls)] // a host makes no more
	return b
}

// Remote is the address of one host, and the chat's end of its seals.
type Remote struct {
	Conn  *nats.Conn
	Names rights.Names
	Host  string // id
	Link  *seal.Link
	// Greet tells the present epoch to a host that does not know it.
	Greet func()
	// Changed is called after each change of the host's presence, with the time of the last beat. It
	// may be nil.
	Changed func(is beat.Presence, heard time.Time)
	// Tick is called in each interval of beats. It may be nil.
	Tick func()
	// Longest is the duration of the longest call; 0: DefaultLongest.
	Longest time.Duration
}

// DefaultLongest is the time after which a call fails even if the host reports that it still makes
// it. Without a limit one host could hold up the people who wait for the call.
const DefaultLongest = 5 * time.Minute

// unlimited are the kinds of calls that wait for an event, and hold up nothing else.
var unlimited = []string{"Transcripts.Next", "Spending.LimitsChange"}

// Caller makes calls on one host.
type Caller struct {
	Remote
	subs  []*nats.Subscription
	inbox string // gets only the hub's word that nobody reads the calls
	taken *rate.Limiter

	connected atomic.Bool // at the last ping

	reporting sync.Mutex    // held during Changed
	reported  beat.Presence // the last one of Changed

	mu       sync.Mutex
	last     int
	calls    map[string]*waiting
	watch    beat.Watch
	presence beat.Presence
	heard    time.Time
	steady   time.Time // heard without a break since
	said     Beat
	greeted  time.Time
	counted  time.Time // the last beat that counted for lostAfter
}

// waiting is a call without an answer.
type waiting struct {
	parts  assembly
	answer chan wire.Envelope // has room for one
	lost   chan struct{}      // is closed if no answer will come
	missed int                // beats without it
}

func (w *waiting) lose() {
	select {
	case <-w.lost:
	default:
		close(w.lost)
	}
}

// NewCaller returns a Caller, which reads what the host sends until Run ends.
func NewCaller(r Remote) (*Caller, error) {
	c := &Caller{Remote: r, calls: make(map[string]*waiting), inbox: nats.NewInbox(), taken: rate.NewLimiter(2*Rate, 2*MostBytes)}
	for subject, handle := range map[string]nats.MsgHandler{r.Names.Answer(r.Host): c.receive, c.inbox + ".*": c.receiveStatus} {
		sub, err := subscribe(r.Conn, subject, handle)
		if err != nil {
			c.unsubscribe()
			return nil, err
		}
		c.subs = append(c.subs, sub)
	}
	return c, nil
}

// subscribe reads a subject. What does not fit in memory, because messages arrive faster than they
// are handled, is dropped.
func subscribe(conn *nats.Conn, subject string, handle nats.MsgHandler) (*nats.Subscription, error) {
	sub, err := conn.Subscribe(subject, handle)
	if err == nil {
		err = sub.SetPendingLimits(maxCalls*maxParts, 2*MostBytes)
	}
	return sub, err
}

func (c *Caller) unsubscribe() {
	for _, sub := range c.subs {
		_ = sub.Unsubscribe() // the connection has ended, and the subscription with it
	}
}

// Run ends the calls to a host that has fallen silent. When ctx ends, all calls end.
func (c *Caller) Run(ctx context.Context) error {
	var pings sync.WaitGroup
	pings.Go(func() { c.ping(ctx) })
	defer c.unsubscribe()
	defer pings.Wait()
	defer c.loseAll()
	ticker := time.NewTicker(beat.Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
			c.check()
		}
	}
}

func (c *Caller) loseAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.calls {
		w.lose()
	}
}

// receiveStatus takes the hub's message that nobody reads the calls.
func (c *Caller) receiveStatus(m *nats.Msg) {
	id, ok := strings.CutPrefix(m.Subject, c.inbox+".") // the hub chooses the subject
	if ok && m.Header.Get("Status") == "503" && len(m.Data) == 0 {
		c.lose(id)
	}
}

// receive takes an answer or a beat. A message that is not sealed by the host has no effect.
func (c *Caller) receive(m *nats.Msg) {
	if !c.taken.AllowN(time.Now(), len(m.Data)) {
		return
	}
	opened, err := c.Link.Open(m.Data)
	isLate := opened.Kind == seal.Beat && opened.Late // the host may be dead since
	if errors.Is(err, seal.ErrEpoch) || isLate {
		c.greet()
	}
	if err != nil || isLate {
		return
	}
	switch opened.Kind {
	case answerKind:
		c.take(opened)
	case seal.Beat:
		c.takeBeat(opened)
	}
}

func (c *Caller) lose(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.calls[id]; w != nil {
		w.lose()
	}
}

func (c *Caller) take(m seal.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.calls[m.ID]
	if w == nil {
		return
	}
	data, complete, err := w.parts.add(m.Body)
	if err != nil || !complete {
		return
	}
	e, err := wire.Decode(data)
	if err != nil {
		w.lose()
		return
	}
	select {
	case w.answer <- e:
	default:
	}
}

// Call is a wire.Transport.
func (c *Caller) Call(ctx context.Context, e wire.Envelope) (wire.Envelope, error) {
	parts, err := encode(e)
	if err != nil {
		return wire.Envelope{}, err
	}
	c.mu.Lock()
	if c.presence == beat.Away {
		c.mu.Unlock()
		return wire.Envelope{}, refusal.ErrUnreachable
	}
	c.last++
	// The time makes the ids of each start others: the host may still make a call of an earlier one.
	id := strconv.FormatInt(time.Now().UnixNano(), 36) + "-" + strconv.Itoa(c.last)
	w := &waiting{answer: make(chan wire.Envelope, 1), lost: make(chan struct{})}
	c.calls[id] = w
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.calls, id)
		c.mu.Unlock()
	}()
	sent := make(chan error, 1)
	sending, stop := context.WithCancel(ctx)
	defer stop()
	go func() { sent <- c.send(sending, id, parts) }() // a connection that hangs may block the client
	silence, longest := time.NewTimer(beat.Timeout), time.NewTimer(cmp.Or(c.Longest, DefaultLongest))
	defer silence.Stop()
	defer longest.Stop()
	if slices.Contains(unlimited, e.Kind) {
		longest.Stop()
	}
	for {
		select {
		case <-ctx.Done():
			go c.cancel(id)
			return wire.Envelope{}, ctx.Err()
		case <-longest.C:
			go c.cancel(id)
			return wire.Envelope{}, refusal.ErrUnreachable
		case a := <-w.answer:
			return a, nil
		case <-w.lost:
			return wire.Envelope{}, refusal.ErrUnreachable
		case err := <-sent:
			if err != nil {
				return wire.Envelope{}, errors.Join(refusal.ErrUnreachable, err)
			}
			sent = nil
		case <-silence.C:
			left := c.untilSilent()
			if left <= 0 {
				return wire.Envelope{}, refusal.ErrUnreachable
			}
			silence.Reset(left)
		}
	}
}

// untilSilent returns the time after which the host counts as silent.
func (c *Caller) untilSilent() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return beat.Timeout - c.watch.Silence(time.Now())
}

// send sends a call as soon as the host has shown that it is in the epoch.
func (c *Caller) send(ctx context.Context, id string, parts [][]byte) error {
	if !c.Conn.IsConnected() { // the client would keep it
		return nats.ErrDisconnected
	}
	for i, body := range parts {
		select {
		case <-c.Link.Met():
		default:
			if i == 0 {
				_ = c.publish(seal.Message{Kind: seal.Beat, ID: id}) // the hub reports a host that is not connected
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.Link.Met():
		}
		if err := c.publish(seal.Message{Kind: callKind, ID: id, Body: body}); err != nil {
			return err
		}
	}
	return nil
}

// cancel ends a call on the host. If the message is lost, the next beat has the call again.
func (c *Caller) cancel(id string) {
	_ = c.publish(seal.Message{Kind: cancelKind, ID: id})
}

// Ping tells the host the epoch and the life of this end, and asks for a beat.
func (c *Caller) Ping() { _ = c.publish(seal.Message{Kind: seal.Beat}) } // the next one follows

// Goodbye is the last message to the host.
func (c *Caller) Goodbye() { sayGoodbye(c.Conn, c.Link, c.Names.Request(c.Host)) }

func (c *Caller) publish(m seal.Message) error {
	sealed, err := c.Link.Seal(m)
	if err != nil {
		return err
	}
	msg := &nats.Msg{Subject: c.Names.Request(c.Host), Data: sealed}
	if m.ID != "" {
		msg.Reply = c.inbox + "." + m.ID
	}
	return c.Conn.PublishMsg(msg)
}
