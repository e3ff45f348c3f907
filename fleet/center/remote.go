package center

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"ccbot/bot/machine"
	"ccbot/fleet/beat"
	"ccbot/fleet/channel"
	"ccbot/fleet/courier"
	"ccbot/fleet/join"
	"ccbot/fleet/link"
	"ccbot/fleet/rpc"
	"ccbot/fleet/seal"
	"ccbot/fleet/wire"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/port/refusal"
)

// remote is one host.
type remote struct {
	host    join.Host // with the name that the chat shows
	own     string    // its own name
	fault   error     // it cannot be used
	end     *courier.End
	machine *machine.Machine
	caller  atomic.Pointer[rpc.Caller] // nil until the hub was reached
	channel *channel.Channel           // as caller
	link    *seal.Link                 // as caller
	unread  atomic.Int64               // see State
	cancel  context.CancelFunc
	ended   chan struct{}
}

// call is the wire.Transport of the host.
func (r *remote) call(ctx context.Context, e wire.Envelope) (wire.Envelope, error) {
	caller := r.caller.Load()
	if caller == nil {
		return wire.Envelope{}, refusal.ErrUnreachable
	}
	return caller.Call(ctx, e)
}

// start opens the seals of a host and runs what reads its messages. The caller holds c.mu.
func (r *remote) start(c *Center) error {
	path := c.linkFolder(r.host.ID)
	epochs := seal.EpochFile{Folder: files(path), Name: "epoch"}
	if err := epochs.Folder.Make(); err != nil {
		return err
	}
	l, err := seal.NewChatLink(c.key, r.host.ID, r.host.Key, epochs)
	if err != nil {
		return err
	}
	report := func(err error) {
		c.settings.Log.Warn("host_step_failed", logkey.Name, r.host.Name, logkey.Error, err)
	}
	ctx, cancel := context.WithCancel(c.ctx)
	ch, end, err := channel.Open(l, true, courier.Settings{Folder: filepath.Join(path, "courier"), Sender: sender{c.chat, r.host.ID}})
	if err != nil {
		cancel()
		return err
	}
	var shown beat.Shown
	away := false
	changed := func(is beat.Presence, heard time.Time) {
		pause.Poke(c.present)
		switch shown.Next(is) {
		case beat.Left:
			away = true
		case beat.Returned:
			away = false
		}
		if m := c.settings.Machines; m != nil {
			m.Note(r.host.ID, away, heard)
		}
	}
	greet := func() { _ = ch.Greet(ctx) } // the next beat greets again
	l.OnFollow = func() {
		if caller := r.caller.Load(); caller != nil {
			caller.Ping()
		}
		greet()
	}
	told := ""
	caller, err := rpc.NewCaller(rpc.Remote{Conn: c.chat.Conn(), Names: c.keys.Names(), Host: r.host.ID, Link: l, Greet: greet, Changed: changed,
		Tick: func() {
			if words := l.Lives().Words(); words != told {
				told = words
				if words != "" {
					c.settings.Log.Warn("host_twice", logkey.Name, r.host.Name, logkey.Reason, words)
				}
			}
		}})
	if err != nil {
		cancel()
		return err
	}
	r.channel, r.link, r.end, r.cancel, r.ended = ch, l, end, cancel, make(chan struct{})
	r.caller.Store(caller)
	c.run(func() error {
		defer close(r.ended)
		defer cancel()
		g, ctx := errgroup.WithContext(ctx)
		g.Go(func() error { return caller.Run(ctx) })
		g.Go(func() error { return end.Run(ctx) })
		if c.settings.News != nil {
			d := rpc.Delivery{End: end, Unread: files(filepath.Join(path, "unread")), To: c.settings.News(r.host), Report: report,
				OnUnread: func(n int) { r.unread.Store(int64(n)) }}
			g.Go(func() error { return d.Run(ctx) })
		}
		if err := g.Wait(); !errors.Is(err, context.Canceled) {
			return err
		}
		return nil // the host was removed, or all ends
	})
	return nil
}

// stop ends what start began.
func (r *remote) stop() {
	if r.cancel != nil {
		r.cancel()
		<-r.ended
	}
}

// tell makes a call to the program of the host, and not to its machine.
func (r *remote) tell(ctx context.Context, kind string, about any) error {
	body, err := json.Marshal(about)
	if err != nil {
		return err
	}
	a, err := r.call(ctx, wire.Envelope{V: wire.Version, Kind: kind, From: "chat", To: r.own, ID: kind, Body: body})
	if err == nil && a.Error != nil {
		err = errors.New(a.Error.Text)
	}
	return err
}

// sender sends the frames of the courier to a host.
type sender struct {
	chat *link.Chat
	host string
}

func (s sender) Send(ctx context.Context, id string, data []byte) error {
	return s.chat.SendCommand(ctx, s.host, id, data)
}
