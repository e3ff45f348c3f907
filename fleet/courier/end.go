package courier

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"ccbot/internal/spool"
)

// Sender sends a frame to the hub. id is another one for each frame, so that the hub, which drops a
// frame with an id that it has seen, never drops one that is sent again because it was lost. A
// frame may arrive although Send returned an error.
type Sender interface {
	Send(ctx context.Context, id string, data []byte) error
}

// DefaultResendInterval is the time after which an item without an answer is sent again.
const DefaultResendInterval = 10 * time.Second

// Settings are the parameters of Open.
type Settings struct {
	Folder         string // belongs to this end of one link
	Sender         Sender
	ResendInterval time.Duration // at most twice as long until an item is sent again
	Report         func(error)   // gets the errors of Run, which tries again; may be nil
}

// End is one end of a link: it sends items to the other end and receives items from it. Each start of an end is a
// life, and each item has its number in the life in which it was put. Methods may be called concurrently.
type End struct {
	settings Settings

	mu      sync.Mutex
	session string // makes the ids of frames unique over lives
	sent    uint64 // frames
	out     outgoing
	in      incoming
	held    atomic.Pointer[held] // of out, for Held

	wake    chan struct{} // has an item if there is something to send
	arrived chan struct{} // has an item if there is something for Next
}

// Open opens the folder of an end. Only one End may have the folder.
func Open(s Settings) (*End, error) {
	if s.ResendInterval <= 0 {
		s.ResendInterval = DefaultResendInterval
	}
	e := &End{settings: s, wake: make(chan struct{}, 1), arrived: make(chan struct{}, 1)}
	var err error
	if e.out, err = openOutgoing(folder(s.Folder, "out")); err == nil {
		e.in, err = openIncoming(folder(s.Folder, "in"))
	}
	if err == nil {
		err = e.BeginLife()
	}
	if err != nil {
		return nil, fmt.Errorf("courier: open %s: %w", s.Folder, err)
	}
	notify(e.wake)
	notify(e.arrived)
	return e, nil
}

// BeginLife begins another life: the other end has seen numbers of the present one that this end has not given.
func (e *End) BeginLife() error {
	var session [6]byte
	if _, err := rand.Read(session[:]); err != nil {
		return fmt.Errorf("courier: %w", err)
	}
	e.mu.Lock()
	defer e.unlock()
	if err := e.out.beginLife(); err != nil {
		return fmt.Errorf("courier: %w", err)
	}
	e.session = hex.EncodeToString(session[:])
	return nil
}

// held are the items that the other end does not have.
type held struct {
	count int
	since time.Time
}

// unlock shows what Held returns, and unlocks e.mu.
func (e *End) unlock() {
	e.held.Store(&held{len(e.out.items), e.out.since})
	e.mu.Unlock()
}

func folder(parent, name string) spool.Folder {
	return spool.Folder{Path: filepath.Join(parent, name), Fsync: true}
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Put stores an item for the other end. If the caller dies before Put returns, or if it returns an
// error, the item may be stored: a caller that puts it again may make it arrive twice.
func (e *End) Put(body []byte) error {
	e.mu.Lock()
	defer e.unlock()
	if err := e.out.put(body); err != nil {
		return fmt.Errorf("courier: %w", err)
	}
	notify(e.wake)
	return nil
}

// Waiting returns the number of items that are in the folder for the other end.
func (e *End) Waiting() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.out.items)
}

// Held returns the number of items that the other end does not have, and how long the first of them
// has been the first: while items pass, that is short. It waits for no disk: beats and pages call it.
func (e *End) Held() (n int, age time.Duration) {
	is := e.held.Load()
	if is.count == 0 {
		return 0, 0
	}
	return is.count, time.Since(is.since)
}

// Item is an item with its number.
type Item struct {
	Life string
	Seq  uint64
	Body []byte
}

// Next waits for an item that it has not returned since Open, and returns the items in order.
func (e *End) Next(ctx context.Context) (Item, error) {
	for {
		item, found, err := e.next()
		if err != nil {
			return Item{}, fmt.Errorf("courier: %w", err)
		}
		if found {
			return item, nil
		}
		select {
		case <-ctx.Done():
			return Item{}, ctx.Err()
		case <-e.arrived:
		}
	}
}

func (e *End) next() (Item, bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	item, found, err := e.in.next()
	if found {
		notify(e.arrived) // for another caller
	}
	return item, found, err
}

// Done ends the work on an item: Next never returns it again.
func (e *End) Done(item Item) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.in.done(item.Life, item.Seq); err != nil {
		return fmt.Errorf("courier: %w", err)
	}
	return nil
}

// Receive takes a frame of the other end. After an error the other end sends the frame again.
func (e *End) Receive(ctx context.Context, data []byte) error {
	f, err := decode(data)
	if err != nil {
		return err
	}
	if f.Have {
		return e.receiveAnswer(f)
	}
	mine, err := e.receiveItem(f)
	if err != nil || !mine {
		return err
	}
	return e.send(ctx, frame{V: 1, Life: f.Life, Seq: f.Seq, Have: true})
}

func (e *End) receiveAnswer(f frame) error {
	e.mu.Lock()
	defer e.unlock()
	if err := e.out.answered(f.Life, f.Seq); err != nil {
		return fmt.Errorf("courier: %w", err)
	}
	notify(e.wake)
	return nil
}

func (e *End) receiveItem(f frame) (mine bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if mine, err = e.in.take(f); err != nil {
		return false, fmt.Errorf("courier: %w", err)
	}
	notify(e.arrived)
	return mine, nil
}

// SendAgain sends all open items again without waiting for the interval, such as after a
// connection was made again.
func (e *End) SendAgain() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.out.forgetRounds()
	notify(e.wake)
}

// Run sends the items until ctx ends.
func (e *End) Run(ctx context.Context) error {
	ticker := time.NewTicker(e.settings.ResendInterval)
	defer ticker.Stop()
	for round := uint64(2); ; {
		if err := e.sendDue(ctx, round); err != nil && ctx.Err() == nil && e.settings.Report != nil {
			e.settings.Report(err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
			round++
		case <-e.wake:
		}
	}
}

// sendDue sends the items that are new or were last sent before the previous round. After an error
// the others wait for the next round: the hub is away.
func (e *End) sendDue(ctx context.Context, round uint64) error {
	for {
		f, found, err := e.due(round)
		if err != nil || !found {
			return err
		}
		if err := e.send(ctx, f); err != nil {
			return err
		}
	}
}

func (e *End) due(round uint64) (frame, bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.out.due(round)
}

func (e *End) send(ctx context.Context, f frame) error {
	data, err := f.encode()
	if err != nil {
		return err
	}
	e.mu.Lock()
	e.sent++
	id := fmt.Sprintf("%d#%s.%d", f.Seq, e.session, e.sent)
	e.mu.Unlock()
	if err := e.settings.Sender.Send(ctx, id, data); err != nil {
		return fmt.Errorf("courier: send %d: %w", f.Seq, err)
	}
	return nil
}
