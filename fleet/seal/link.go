package seal

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"ccbot/fleet/beat"
	"ccbot/fleet/life"
)

// Epochs stores the epoch of one link, and what this end knows of the lives of the other one. SetEpoch and SetKnown
// return after that is safe on disk. Epoch returns 0 if none was stored.
type Epochs interface {
	Epoch() (uint64, error)
	SetEpoch(epoch uint64) error
	Known() (life.Known, error)
	SetKnown(k life.Known) error
}

const (
	// maxBegins is the number of epochs a second that messages of a host begin, and beginBurst the
	// number at once: each is a write to the disk, and the hub can repeat a hello.
	maxBegins  = 1
	beginBurst = 16
	// maxEpoch is above each epoch that an honest end reaches.
	maxEpoch = 1 << 62
	// maxLives is the number of lives that may speak in one epoch.
	maxLives = 8
)

// Link is one end of the messages between the chat and a host. Its methods may be called
// concurrently.
type Link struct {
	// Patience is the silence after which another life of the other end may be followed. It is set before the first
	// message.
	Patience time.Duration
	// OnFollow is called in a goroutine of its own when another life is followed. It may be nil, and is set as Patience.
	OnFollow func()
	// OnRenew is called before this start takes another life, with a lock of the link held: it may not call the link. It
	// may be nil, and is set as Patience.
	OnRenew func() error

	pair     *pair
	me, them string
	stored   Epochs

	mu     sync.Mutex
	epoch  uint64 // the highest known
	begun  bool   // false for a host that has not met the chat since its start
	sealed uint64
	opened map[string]*window // of the epoch, by life
	marks  marks
	met    chan struct{} // see Met
	begins *rate.Limiter // the epochs and lives that messages of the other end begin

	life   life.Life // of this start
	left   bool      // it has said goodbye
	known  life.Known
	came   uint64               // who has heard this number of this end speaks after the lives that wait came
	watch  beat.Watch           // of the followed life
	beside map[string]time.Time // the last beats of lives that are not followed
	// elsewhere is another start of this end that the other end follows, since a time.
	elsewhere life.Life
	since     time.Time
}

// NewChatLink returns the chat's end of the link to a host, and begins an epoch.
func NewChatLink(key Key, hostID, hostKey string, stored Epochs) (*Link, error) {
	l, err := newLink(key, hostKey, stored)
	if err != nil {
		return nil, err
	}
	l.me, l.them = ChatName, hostID
	return l, l.beginLocked(l.epoch + 1) // nothing else has l yet
}

// NewHostLink returns the host's end. Until the first message of the chat it seals only hellos.
func NewHostLink(key Key, hostID, chatKey string, stored Epochs) (*Link, error) {
	l, err := newLink(key, chatKey, stored)
	if err != nil {
		return nil, err
	}
	l.me, l.them = hostID, ChatName
	return l, nil
}

func newLink(key Key, peer string, stored Epochs) (*Link, error) {
	both, err := newPair(key, peer)
	if err != nil {
		return nil, err
	}
	l := &Link{Patience: life.Patience, pair: both, stored: stored, met: make(chan struct{}), begins: rate.NewLimiter(maxBegins, beginBurst),
		opened: make(map[string]*window), beside: make(map[string]time.Time)}
	if l.epoch, err = stored.Epoch(); err == nil {
		l.known, err = stored.Known()
	}
	if err == nil {
		l.life, err = life.New()
	}
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return l, nil
}

func (l *Link) beginLocked(epoch uint64) error {
	if err := l.stored.SetEpoch(epoch); err != nil {
		return fmt.Errorf("seal: begin epoch %d: %w", epoch, err)
	}
	l.epoch, l.begun, l.sealed, l.marks, l.met = epoch, true, 0, nil, make(chan struct{})
	l.came = 0 // each message of the epoch is younger
	clear(l.opened)
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
	if signs := m.Kind == Hello || m.Kind == Beat || m.Kind == Bye; l.left || l.elsewhere.ID != "" && !signs {
		l.mu.Unlock()
		return nil, fmt.Errorf("seal: %s: %w", m.Kind, ErrLife)
	}
	l.left = m.Kind == Bye
	l.sealed++
	l.marks = l.marks.add(l.sealed, time.Now())
	m.V, m.From, m.To, m.Epoch, m.Seq, m.Heard = Version, l.me, l.them, l.epoch, l.sealed, new(uint64)
	if w := l.opened[l.known.Followed.ID]; w != nil {
		*m.Heard = w.top
	}
	if m.Life = l.life; l.known.Follows(l.known.Followed) {
		m.Peer = l.known.Followed
	}
	l.mu.Unlock()
	data, err := m.encode()
	if err != nil {
		return nil, err
	}
	return l.pair.seal(data), nil
}

// Open returns a message of the other end. A hello that the chat opens begins an epoch, and a beat decides which life
// is followed.
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
	isChat := l.me == ChatName
	if m.Epoch == l.epoch && l.begun && m.Peer.ID == l.life.ID && m.Heard != nil && *m.Heard > l.sealed {
		if err := l.renewLocked(); err != nil {
			return err
		}
	}
	switch {
	case m.Epoch > maxEpoch:
		return ErrEpoch
	case isChat && m.Kind == Hello && l.known.Refuses(m.Life) && l.watch.Silence(time.Now()) < l.Patience:
		return ErrLife // an epoch would interrupt the followed one
	case isChat && (m.Kind == Hello || m.Epoch > l.epoch) && !l.begins.Allow():
		return ErrReplay // a host that means it says hello again
	case isChat && m.Kind == Hello:
		if err := l.hearLocked(m); err != nil && !errors.Is(err, ErrLife) {
			return err
		}
		// The chat's disk may be older than the host's, so its number may be lower.
		return l.beginLocked(max(l.epoch, m.Epoch) + 1)
	}
	l.noteElsewhereLocked(m)
	switch {
	case isChat && m.Epoch > l.epoch: // the chat's disk was restored from a backup
		return errors.Join(ErrEpoch, l.beginLocked(m.Epoch+1))
	case m.Epoch < l.epoch, m.Epoch == l.epoch && !l.begun:
		return ErrEpoch
	case m.Epoch == l.epoch:
		if err := l.countLocked(m); err != nil {
			return err
		}
	}
	if err := l.hearLocked(m); err != nil {
		return err
	}
	if m.Epoch > l.epoch {
		if err := errors.Join(l.beginLocked(m.Epoch), l.countLocked(m)); err != nil {
			return err
		}
	}
	if m.Life.ID != "" && m.Peer.ID != l.life.ID {
		return ErrLife
	}
	select {
	case <-l.met:
	default:
		close(l.met)
	}
	return nil
}

// renewLocked takes another life: the other end has opened a number of this one that it has not given, because its
// machine was resumed from an earlier state of the memory. The numbers that follow would be taken for repeats.
func (l *Link) renewLocked() error {
	if l.OnRenew != nil {
		if err := l.OnRenew(); err != nil {
			return fmt.Errorf("seal: begin another life: %w", err)
		}
	}
	renewed, err := life.New()
	if err != nil {
		return fmt.Errorf("seal: %w", err)
	}
	l.life = renewed
	return nil
}

// countLocked notes the number of a message in the epoch.
func (l *Link) countLocked(m Message) error {
	w := l.opened[m.Life.ID]
	if w == nil {
		if len(l.opened) == maxLives {
			return ErrLife
		}
		w = new(window)
		l.opened[m.Life.ID] = w
	}
	if !w.add(m.Seq) {
		return ErrReplay
	}
	return nil
}

// hearLocked decides whether a life is followed. Only a beat proves that the life speaks now: the hub keeps the others.
func (l *Link) hearLocked(m Message) error {
	now := time.Now()
	silence := l.watch.Silence(now)
	next := l.known
	switch m.Kind {
	case Bye:
		next = next.Leave(m.Life)
	case Beat:
		next = next.Hear(m.Life, silence, l.Patience, l.them == ChatName, m.Heard != nil && *m.Heard < l.came)
		if len(l.known.Waiting) == 0 && len(next.Waiting) > 0 {
			l.came = l.sealed + 1
		}
	default:
		next = next.Come(m.Life, silence, l.Patience)
	}
	if err := l.setKnownLocked(next); err != nil {
		return err
	}
	if !l.known.Follows(m.Life) {
		if m.Kind == Beat && m.Life.ID != "" {
			maps.DeleteFunc(l.beside, func(_ string, at time.Time) bool { return now.Sub(at) > shownFor })
			l.beside[m.Life.ID] = now
		}
		return ErrLife
	}
	if m.Kind == Beat {
		l.watch.Beat(now)
	}
	return nil
}

// setKnownLocked stores what is known before it has effects. A note about lives that are not followed may be lost: then
// they are refused again after the next start.
func (l *Link) setKnownLocked(next life.Known) error {
	before := l.known
	if len(before.Torn) == 0 && len(next.Torn) > 0 {
		l.beside[before.Followed.ID] = l.watch.LastBeat() // it can be chosen before it speaks again
	}
	stored := next
	stored.Waiting = before.Waiting
	noted := before
	noted.Refused, noted.Earlier, noted.Waiting = stored.Refused, stored.Earlier, stored.Waiting
	isNote := reflect.DeepEqual(stored, noted)
	if !reflect.DeepEqual(stored, before) {
		err := ErrLife // the next beat tries again
		if l.begins.Allow() {
			err = l.stored.SetKnown(next)
		}
		if err != nil && !isNote {
			return err
		}
	}
	l.known = next
	if next.Followed.ID != before.Followed.ID || len(next.Torn) != len(before.Torn) {
		l.met = make(chan struct{})
		if l.OnFollow != nil && next.Follows(next.Followed) {
			go l.OnFollow()
		}
	}
	return nil
}

// noteElsewhereLocked notes which start of this end the other end follows.
func (l *Link) noteElsewhereLocked(m Message) {
	if m.Kind != Beat || m.Life.ID != l.known.Followed.ID && l.known.Followed.ID != "" {
		return
	}
	switch m.Peer.ID {
	case "", l.life.ID:
		l.elsewhere = life.Life{}
	case l.elsewhere.ID:
	default:
		l.elsewhere, l.since = m.Peer, time.Now()
	}
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
