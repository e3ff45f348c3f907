package seal

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Epochs stores the epoch of one link. SetEpoch returns after the number is safe on disk. Epoch
// returns 0 if none was stored.
type Epochs interface {
	Epoch() (uint64, error)
	SetEpoch(epoch uint64) error
}

const (
	// maxBegins is the number of epochs a second that messages of a host begin, and beginBurst the
	// number at once: each is a write to the disk, and the hub can repeat a hello.
	maxBegins  = 1
	beginBurst = 16
	// maxEpoch is above each epoch that an honest end reaches.
	maxEpoch = 1 << 62
)

// Link is one end of the messages between the chat and a host. Its methods may be called
// concurrently.
type Link struct {
	pair     *pair
	me, them string
	stored   Epochs

	mu     sync.Mutex
	epoch  uint64 // the highest known
	begun  bool   // false for a host that has not met the chat since its start
	sealed uint64
	opened window
	marks  marks
	met    chan struct{} // see Met
	begins *rate.Limiter // of the chat: the epochs that messages of the host begin
}

// NewChatLink returns the chat's end of the link to a host, and begins an epoch.
func NewChatLink(key Key, hostID, hostKey string, stored Epochs) (*Link, error) {
	both, err := newPair(key, hostKey)
	if err != nil {
		return nil, err
	}
	l := &Link{pair: both, me: ChatName, them: hostID, stored: stored, begins: rate.NewLimiter(maxBegins, beginBurst)}
	epoch, err := stored.Epoch()
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return l, l.beginLocked(epoch + 1) // nothing else has l yet
}

// NewHostLink returns the host's end. Until the first message of the chat it seals only hellos.
func NewHostLink(key Key, hostID, chatKey string, stored Epochs) (*Link, error) {
	both, err := newPair(key, chatKey)
	if err != nil {
		return nil, err
	}
	epoch, err := stored.Epoch()
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return &Link{pair: both, me: hostID, them: ChatName, stored: stored, epoch: epoch, met: make(chan struct{})}, nil
}

func (l *Link) beginLocked(epoch uint64) error {
	if err := l.stored.SetEpoch(epoch); err != nil {
		return fmt.Errorf("seal: begin epoch %d: %w", epoch, err)
	}
	l.epoch, l.begun, l.sealed, l.opened, l.marks, l.met = epoch, true, 0, window{}, nil, make(chan struct{})
	return nil
}

// HasEpoch reports whether the link has an epoch. A host without one sends a hello.
func (l *Link) HasEpoch() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.begun
}

// Seal returns the sealed form of a message. Each result is another one: a message that is sent
// again is sealed again.
func (l *Link) Seal(m Message) ([]byte, error) {
	l.mu.Lock()
	if !l.begun && m.Kind != Hello {
		l.mu.Unlock()
		return nil, fmt.Errorf("seal: %s without an epoch: %w", m.Kind, ErrEpoch)
	}
	l.sealed++
	l.marks = l.marks.add(l.sealed, time.Now())
	m.V, m.From, m.To, m.Epoch, m.Seq, m.Heard = Version, l.me, l.them, l.epoch, l.sealed, new(l.opened.top)
	l.mu.Unlock()
	data, err := m.encode()
	if err != nil {
		return nil, err
	}
	return l.pair.seal(data), nil
}

// Open returns a message of the other end. A hello that the chat opens begins an epoch.
func (l *Link) Open(sealed []byte) (Message, error) {
	data, err := l.pair.open(sealed)
	if err != nil {
		return Message{}, err
	}
	m, err := decode(data)
	if err != nil {
		return Message{}, err
	}
	if m.From != l.them || m.To != l.me {
		return Message{}, fmt.Errorf("%w: from %q to %q", ErrAddress, m.From, m.To)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.admitLocked(m); err != nil {
		return Message{}, fmt.Errorf("%s %d of epoch %d: %w", m.Kind, m.Seq, m.Epoch, err)
	}
	m.Late = m.Heard != nil && !l.marks.isRecent(*m.Heard, time.Now())
	return m, nil
}

// Met returns a channel that is closed when a message of the other end was opened in the present
// epoch. Each message that is sealed before is Late there.
func (l *Link) Met() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.met
}

// admitLocked returns why an authentic message must not be opened.
func (l *Link) admitLocked(m Message) error {
	switch isChat := l.me == ChatName; {
	case m.Epoch > maxEpoch:
		return ErrEpoch
	case isChat && (m.Kind == Hello || m.Epoch > l.epoch) && !l.begins.Allow():
		return ErrReplay // a host that means it says hello again
	case isChat && m.Kind == Hello:
		// The chat's disk may be older than the host's, so its number may be lower.
		return l.beginLocked(max(l.epoch, m.Epoch) + 1)
	case isChat && m.Epoch > l.epoch: // the chat's disk was restored from a backup
		return errors.Join(ErrEpoch, l.beginLocked(m.Epoch+1))
	case isChat && m.Epoch < l.epoch, m.Epoch < l.epoch, m.Epoch == l.epoch && !l.begun:
		return ErrEpoch
	case m.Epoch > l.epoch:
		if err := l.beginLocked(m.Epoch); err != nil {
			return err
		}
	}
	if !l.opened.add(m.Seq) {
		return ErrReplay
	}
	select {
	case <-l.met:
	default:
		close(l.met)
	}
	return nil
}

// windowSize is the number of messages by which a message may be overtaken.
const windowSize = 1024

// window remembers the numbers of opened messages. Numbers begin at 1.
type window struct {
	top  uint64
	seen [windowSize / 64]uint64 // bit n%windowSize of each n in (top-windowSize, top]
}

// add notes n. It reports false if n is noted already, or too low to know.
func (w *window) add(n uint64) bool {
	switch {
	case n == 0 || n+windowSize <= w.top:
		return false
	case n > w.top:
		for i := w.top + 1; i <= n && i <= w.top+windowSize; i++ {
			w.seen[i%windowSize/64] &^= 1 << (i % 64)
		}
		w.top = n
	case w.seen[n%windowSize/64]&(1<<(n%64)) != 0:
		return false
	}
	w.seen[n%windowSize/64] |= 1 << (n % 64)
	return true
}
