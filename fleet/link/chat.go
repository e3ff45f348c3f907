package link

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"ccbot/fleet/rights"
	"ccbot/internal/pause"
)

// Chat is the chat's connection to the hub.
type Chat struct {
	// Held reports that the events of a host are for another start of this chat. It is set before Events, and may be nil.
	Held func(host string) bool

	names   rights.Names
	system  *nats.Conn // nil with an existing server, whose accounts are not ours
	conn    *nats.Conn
	js      jetstream.JetStream
	lost    chan struct{} // has an item if the hub may not have the fleet
	changed chan struct{} // has an item after a change of the fleet

	preparing sync.Mutex           // held by prepare: the server does not lock what two at once would use
	deleted   map[string]time.Time // damaged streams, by name; of prepare

	mu          sync.Mutex
	fleet       Fleet
	reconnected func()
}

// Fleet describes the fleet to the hub.
type Fleet struct {
	Account string   // its JWT, see rights.Keys.AccountJWT; empty: the hub keeps the one that it has
	Hosts   []string // ids
}

// OpenChat connects the chat's machine to its own hub, and sends it the account. A hub without a
// pin is an existing NATS server, whose operator has signed the account.
func OpenChat(ctx context.Context, h Hub, keys *rights.Keys, fleet Fleet) (*Chat, error) {
	c := &Chat{names: keys.Names(), fleet: fleet, deleted: make(map[string]time.Time), lost: make(chan struct{}, 1), changed: make(chan struct{}, 1)}
	if err := c.open(ctx, h, keys); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Chat) open(ctx context.Context, h Hub, keys *rights.Keys) error {
	user, err := keys.Chat()
	if err != nil {
		return err
	}
	if h.Pin != nil {
		system, err := keys.System()
		if err == nil {
			c.system, err = connect(h, Login{User: system}, c.again)
		}
		if err == nil {
			err = c.push(ctx) // before, the hub does not know the account of user
		}
		if err != nil {
			return err
		}
	}
	if c.conn, err = connect(h, Login{User: user}, c.again); err != nil {
		return err
	}
	if c.js, err = jetstream.New(c.conn); err != nil {
		return err
	}
	if err = c.prepare(ctx); errors.Is(err, errConsumer) {
		c.again() // Run repeats it: the other hosts have theirs
		return nil
	}
	return err
}

// Close ends the connections.
func (c *Chat) Close() error {
	for _, conn := range []*nats.Conn{c.system, c.conn} {
		if conn != nil {
			conn.Close()
		}
	}
	return nil
}

func (c *Chat) again() { pause.Poke(c.lost) }

// Run sends the fleet to the hub again after each loss of a connection or of a stream, because the
// hub may have lost its disk. It tries again after an error, of which failed is told.
func (c *Chat) Run(ctx context.Context, failed func(error)) error {
	for attempts := 0; ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.lost:
		}
		err := c.push(ctx)
		if err == nil {
			err = c.prepare(ctx)
		}
		if err == nil {
			attempts = 0
			c.report()
			continue
		}
		attempts++
		failed(err)
		if err := pause.For(ctx, backoff(attempts)); err != nil {
			return err
		}
		c.again()
	}
}

// OnReconnect makes Run call f each time that the hub has the fleet again.
func (c *Chat) OnReconnect(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reconnected = f
}

func (c *Chat) report() {
	c.mu.Lock()
	f := c.reconnected
	c.mu.Unlock()
	if f != nil {
		f()
	}
}

// SetFleet sends a changed fleet to the hub, with a host that was added, or without one whose
// rights were revoked, which the hub cuts off. After an error the change is kept for the next
// connection.
func (c *Chat) SetFleet(ctx context.Context, fleet Fleet) error {
	c.mu.Lock()
	c.fleet = fleet
	c.mu.Unlock()
	pause.Poke(c.changed)
	err := c.push(ctx)
	if err == nil {
		err = c.prepare(ctx)
	}
	if err != nil {
		c.again()
	}
	return err
}

func (c *Chat) current() Fleet {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fleet
}

// push sends the account to the hub.
func (c *Chat) push(ctx context.Context) error {
	account := c.current().Account
	if c.system == nil || account == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	answer, err := c.system.RequestWithContext(ctx, "$SYS.REQ.CLAIMS.UPDATE", []byte(account))
	if err != nil {
		return fmt.Errorf("give the hub the fleet: %w", err)
	}
	var result struct {
		Error *struct {
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(answer.Data, &result); err != nil {
		return fmt.Errorf("give the hub the fleet: %w", err)
	}
	if result.Error != nil {
		return fmt.Errorf("give the hub the fleet: %s", result.Error.Description)
	}
	return nil
}

const (
	commandTTL  = 24 * time.Hour
	eventTTL    = 7 * 24 * time.Hour
	ackTimeout  = 10 * time.Second
	maxMessages = 10_000 // of a host in one stream
	maxStream   = 1 << 30
	// deleteInterval is the least time between two deletions of one stream.
	deleteInterval = time.Minute
	// consumerStoreFailed is in the server's error 10104, which it also gives as 10012.
	consumerStoreFailed = "creating store for consumer"
	maxEvents           = 1000 // of a host in the stream of events: one host leaves room for others
)

// prepare makes the streams, and the consumers of the hosts.
func (c *Chat) prepare(ctx context.Context) error {
	c.preparing.Lock()
	defer c.preparing.Unlock()
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	for name, subject := range map[string]string{c.names.Commands(): c.names.Command("*"), c.names.Events(): c.names.Event("*")} {
		ttl, most := commandTTL, int64(maxMessages)
		if name == c.names.Events() {
			ttl, most = eventTTL, maxEvents
		}
		if _, err := c.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
			Name: name, Subjects: []string{subject}, Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage,
			Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, MaxMsgsPerSubject: most, MaxBytes: maxStream,
			MaxMsgSize: rights.MaxPayload, MaxAge: ttl, DenyDelete: true,
		}); err != nil {
			return fmt.Errorf("make the stream %s: %w", name, err)
		}
	}
	var failed error
	for _, host := range c.current().Hosts {
		failed = errors.Join(failed, c.consumer(ctx, c.names.Commands(), host, c.names.Command(host)), c.consumer(ctx, c.names.Events(), host, c.names.Event(host)))
	}
	return failed
}

// consumer makes the consumer of a host. The server makes none in place of a damaged one. It hides
// that one too, so the stream is deleted, whose messages are still at both ends; after the error
// prepare is called again.
func (c *Chat) consumer(ctx context.Context, stream, name, subject string) error {
	_, err := c.js.CreateOrUpdateConsumer(ctx, stream, jetstream.ConsumerConfig{
		Durable: name, FilterSubject: subject, AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackTimeout, MaxAckPending: 256,
	})
	if err == nil {
		return nil
	}
	if isDamage(err) && time.Since(c.deleted[stream]) > deleteInterval && c.canMakeConsumer(ctx, stream) {
		c.deleted[stream] = time.Now()
		err = errors.Join(err, c.js.DeleteStream(ctx, stream))
	}
	return fmt.Errorf("%w %s of %s: %w", errConsumer, name, stream, err)
}

// canMakeConsumer reports whether the server can make a consumer that it never had. It cannot on a full disk, without a
// right or with too many open files, which the server's answer does not tell from damage, and which no deletion cures.
func (c *Chat) canMakeConsumer(ctx context.Context, stream string) bool {
	const name = "trial" // ids of hosts are longer
	subject := c.names.Command(name)
	if stream == c.names.Events() {
		subject = c.names.Event(name)
	}
	_, err := c.js.CreateOrUpdateConsumer(ctx, stream, jetstream.ConsumerConfig{Durable: name, FilterSubject: subject, AckPolicy: jetstream.AckExplicitPolicy})
	return err == nil && c.js.DeleteConsumer(ctx, stream, name) == nil
}

var errConsumer = errors.New("make the consumer")

// isDamage reports whether the server cannot use the files of a consumer.
func isDamage(err error) bool {
	var refused *jetstream.APIError
	return errors.As(err, &refused) && strings.Contains(refused.Description, consumerStoreFailed)
}

// SendCommand publishes a message for a host. The hub drops a second message with the same id.
func (c *Chat) SendCommand(ctx context.Context, host, id string, data []byte) error {
	err := publish(ctx, c.js, c.names.Command(host), host+":"+id, data)
	if errors.Is(err, jetstream.ErrNoStreamResponse) {
		c.again()
	}
	return err
}

// Events calls handle for each event of a host until ctx ends. After handle the hub forgets the
// event. The events of one host wait for no other's. Events is called once.
func (c *Chat) Events(ctx context.Context, handle func(host string, data []byte)) error {
	var running sync.WaitGroup
	defer running.Wait()
	reads := make(map[string]context.CancelFunc)
	for {
		hosts := c.current().Hosts
		for host, stop := range reads {
			if !slices.Contains(hosts, host) {
				stop()
				delete(reads, host)
			}
		}
		for _, host := range hosts {
			if reads[host] != nil {
				continue
			}
			of, stop := context.WithCancel(ctx)
			reads[host] = stop
			running.Go(func() {
				defer stop()
				_ = consume(of, c.js, c.names.Events(), host, func() bool { return c.Held != nil && c.Held(host) }, func(m jetstream.Msg) { // ends with of
					handle(host, m.Data())
				}, c.again)
			})
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.changed:
		}
	}
}

// Conn returns the connection, for requests and beats.
func (c *Chat) Conn() *nats.Conn { return c.conn }
