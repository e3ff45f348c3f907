package member

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ccbot/fleet/channel"
	"ccbot/fleet/courier"
	"ccbot/fleet/join"
	"ccbot/fleet/link"
	"ccbot/fleet/rpc"
	"ccbot/fleet/seal"
	"ccbot/fleet/wire"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
)

// connectInterval is the time between two attempts to reach the hub at the start.
const connectInterval = 2 * time.Second

// Member is a machine that has joined. It needs Run.
type Member struct {
	Admission join.Admission
	path      string
	keys      join.HostKeys
	log       *slog.Logger
	link      *seal.Link
	channel   *channel.Channel
	end       *courier.End
	told      string // of tellLives

	mu   sync.Mutex
	host *link.Host // nil until the hub was reached
	stop context.CancelCauseFunc
}

// Open reads the membership of a folder. ErrNone: there is none.
func Open(path string, log *slog.Logger) (*Member, error) {
	a, keys, err := load(path)
	if err != nil {
		return nil, err
	}
	m := &Member{Admission: a, path: path, keys: keys, log: log}
	folder := filepath.Join(path, "links", a.ID)
	epochs := seal.EpochFile{Folder: files(folder), Name: "epoch"}
	if err := epochs.Folder.Make(); err != nil {
		return nil, err
	}
	if m.link, err = seal.NewHostLink(m.keys.Seal, a.ID, a.Chat, epochs); err != nil {
		return nil, err
	}
	m.channel, m.end, err = channel.Open(m.link, false, courier.Settings{Folder: filepath.Join(folder, "courier"), Sender: m})
	return m, err
}

// Send implements courier.Sender.
func (m *Member) Send(ctx context.Context, id string, data []byte) error {
	m.mu.Lock()
	host := m.host
	m.mu.Unlock()
	if host == nil {
		return errors.New("the hub was not reached")
	}
	return host.SendEvent(ctx, id, data)
}

// News returns what stores the news of this machine for the chat.
func (m *Member) News() wire.Chat { return rpc.Outbox{End: m.end, Host: m.Admission.Name} }

// Run connects to the hub, and makes the calls of the chat until ctx ends. ErrRemoved: the chat has
// removed this machine. ErrReplaced: it has joined another chat.
func (m *Member) Run(ctx context.Context, answer func(context.Context, wire.Envelope) wire.Envelope, about func() rpc.Beat) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	host, err := m.connect(ctx)
	if err != nil {
		return err
	}
	defer host.Close()
	m.mu.Lock()
	m.host, m.stop = host, stop
	m.mu.Unlock()
	s := rpc.NewServer(rpc.Settings{Conn: host.Conn(), Names: m.Admission.Names, Host: m.Admission.ID, Link: m.link,
		Answer: func(ctx context.Context, e wire.Envelope) wire.Envelope { return m.answer(ctx, e, answer) },
		About: func() rpc.Beat {
			b := about()
			b.Held, b.HeldFor = m.end.Held()
			return b
		},
		Greet: func(ctx context.Context) { _ = m.channel.Greet(ctx) }, // the next beat greets again
		Tick: func() {
			m.tellLives()
			if err := m.checkMembership(); err != nil {
				stop(err)
			}
		}})
	host.Held = m.link.IsElsewhere
	host.OnReconnect(s.Beat)
	whole := ctx
	g, ctx := errgroup.WithContext(whole)
	g.Go(func() error { return s.Run(ctx) })
	g.Go(func() error { return m.end.Run(ctx) })
	g.Go(func() error {
		return host.Commands(ctx, func(data []byte) {
			if err := m.channel.Receive(ctx, data); err != nil {
				m.log.Debug("command_refused", logkey.Error, err)
				if !errors.Is(err, seal.ErrLife) { // it may have begun an epoch
					return
				}
			}
			s.Beat()
		})
	})
	err = g.Wait()
	if cause := context.Cause(whole); errors.Is(cause, ErrRemoved) || errors.Is(cause, ErrReplaced) {
		return cause
	}
	return err
}

// Lives returns the starts of both ends, as this machine sees them.
func (m *Member) Lives() seal.Lives { return m.link.Lives() }

// checkMembership returns ErrReplaced if the folder has another membership.
func (m *Member) checkMembership() error {
	if a, is, err := Membership(m.path); err == nil && is && a.ID != m.Admission.ID {
		return ErrReplaced
	}
	return nil
}

// tellLives logs that another start of this machine or of the chat speaks.
func (m *Member) tellLives() {
	if words := m.link.Lives().Words(); words != m.told {
		m.told = words
		if words != "" {
			m.log.Warn("host_twice", logkey.Reason, words)
		}
	}
}

// connect reaches the hub. A hub that has lost its disk refuses all hosts until the chat has told
// it the fleet, so a refusal is no proof of a removal.
func (m *Member) connect(ctx context.Context) (*link.Host, error) {
	as := m.Admission.Login(m.keys)
	as.Rights = m.rights
	for told := false; ; told = true {
		host, err := link.OpenHost(m.Admission.Hub, as, m.Admission.Names, m.Admission.ID)
		if err == nil {
			m.log.Debug("hub_reached", logkey.Server, m.Admission.Hub.Address)
			return host, nil
		}
		if !told {
			m.log.Warn("hub_not_reached", logkey.Server, m.Admission.Hub.Address, logkey.Error, err)
		}
		if err := errors.Join(m.checkMembership(), pause.For(ctx, connectInterval)); err != nil {
			return nil, err
		}
	}
}

// rights returns the present rights of this machine.
func (m *Member) rights() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.Admission.JWT
}

// answer makes a call of the chat. The membership of this machine is its own to store.
func (m *Member) answer(ctx context.Context, e wire.Envelope, next func(context.Context, wire.Envelope) wire.Envelope) wire.Envelope {
	var err error
	switch e.Kind {
	case rpc.RightsKind:
		err = m.renew(e.Body)
	case rpc.RemovedKind:
		err = m.leave()
	default:
		return next(ctx, e)
	}
	a := wire.Envelope{V: wire.Version, Kind: e.Kind, From: e.To, To: e.From, ID: e.ID}
	if err != nil {
		a.Error = &wire.Error{Text: err.Error()}
	}
	return a
}

// renew stores rights for the next connection.
func (m *Member) renew(body []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.checkMembership(); err != nil {
		return err
	}
	renewed := m.Admission
	if err := json.Unmarshal(body, &renewed.JWT); err != nil || renewed.JWT == "" {
		return fmt.Errorf("read the rights: %w", errors.Join(err, errors.ErrUnsupported))
	}
	err := store(m.path, stored{Admission: renewed}, m.keys)
	if err == nil {
		m.Admission.JWT = renewed.JWT
	}
	return err
}

// leave stores that this machine was removed, and ends Run.
func (m *Member) leave() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.checkMembership(); err != nil {
		m.stop(err)
		return nil
	}
	err := store(m.path, stored{Admission: m.Admission, Removed: true}, m.keys)
	m.stop(ErrRemoved)
	return err
}
