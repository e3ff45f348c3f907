package rpc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
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
	beatKind   = "beat"
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
)

// lostAfter is the number of beats without a call after which the call, or its answer, is lost. The
// first one may have been sent before the call arrived.
const lostAfter = 2

// Beat is the status that a host reports.
type Beat struct {
	Version  string  `json:"version"` // of ccbot
	Agents   int     `json:"agents"`  // that run
	Load     float64 `json:"load"`    // of the last minute, for each processor
	DiskFree int64   `json:"disk_free"`
	DiskSize int64   `json:"disk_size"`
	// Calls are the ids of the calls that the host is making.
	Calls []string `json:"calls,omitempty"`
}

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

	reporting sync.Mutex    // held during Changed
	reported  beat.Presence // the last one of Changed

	mu       sync.Mutex
	last     int
	calls    map[string]*waiting
	watch    beat.Watch
	presence beat.Presence
	heard    time.Time
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
	defer c.unsubscribe()
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

// check ends the calls to a host that has fallen silent.
func (c *Caller) check() {
	c.mu.Lock()
	now := time.Now()
	c.watch.Connect(now, c.Conn.IsConnected())
	c.presence = c.watch.Check(now)
	away := c.presence == beat.Away
	c.mu.Unlock()
	if away {
		c.loseAll()
	}
	c.report()
}

// report calls Changed if the presence is another one than in the last call. A beat and a check may
// come at the same time: the last call has the last presence.
func (c *Caller) report() {
	c.reporting.Lock()
	defer c.reporting.Unlock()
	c.mu.Lock()
	is, heard := c.presence, c.heard
	c.mu.Unlock()
	if is != c.reported && c.Changed != nil {
		c.reported = is
		c.Changed(is, heard)
	}
}

// State returns whether the host can be reached, when it was heard last, and what it said then.
func (c *Caller) State() (beat.Presence, time.Time, Beat) {
	c.mu.Lock()
	defer c.mu.Unlock()
	said := c.said
	said.Calls = nil
	return c.presence, c.heard, said
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
	if errors.Is(err, seal.ErrEpoch) {
		c.greet()
	}
	if err != nil {
		return
	}
	switch opened.Kind {
	case answerKind:
		c.take(opened)
	case beatKind:
		c.takeBeat(opened)
	}
}

// greet tells the host the epoch, at most once in an interval of beats.
func (c *Caller) greet() {
	c.mu.Lock()
	due := time.Since(c.greeted) >= beat.Interval
	if due {
		c.greeted = time.Now()
	}
	c.mu.Unlock()
	if due {
		go c.Greet()
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

func (c *Caller) takeBeat(m seal.Message) {
	var b Beat
	if len(m.Body) > mostBeat || json.Unmarshal(m.Body, &b) != nil {
		return
	}
	b = b.bounded()
	c.mu.Lock()
	now := time.Now()
	c.watch.Beat(now)
	c.presence, c.heard, c.said = beat.Present, now, b
	counts := now.Sub(c.counted) >= beat.Interval/2 // two beats at once may both be older than a call
	if counts {
		c.counted = now
	}
	for id, w := range c.calls {
		if slices.Contains(b.Calls, id) {
			w.missed = 0
		} else if counts {
			w.missed++
		}
		if w.missed >= lostAfter {
			w.lose()
		}
	}
	var left []string
	for _, id := range b.Calls {
		if c.calls[id] == nil {
			left = append(left, id)
		}
	}
	c.mu.Unlock()
	for _, id := range left {
		c.cancel(id)
	}
	c.report()
}

// Call is a wire.Transport.
func (c *Caller) Call(ctx context.Context, e wire.Envelope) (wire.Envelope, error) {
	parts, err := encode(e)
	if err != nil {
		return wire.Envelope{}, err
	}
	c.mu.Lock()
	if !c.Conn.IsConnected() || c.presence == beat.Away {
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
	go func() { sent <- c.send(id, parts) }() // a connection that hangs may block the client
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
	return time.Until(c.heard.Add(beat.Timeout))
}

func (c *Caller) send(id string, parts [][]byte) error {
	for _, body := range parts {
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

func (c *Caller) publish(m seal.Message) error {
	sealed, err := c.Link.Seal(m)
	if err != nil {
		return err
	}
	return c.Conn.PublishMsg(&nats.Msg{Subject: c.Names.Request(c.Host), Reply: c.inbox + "." + m.ID, Data: sealed})
}
