package rpc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ccbot/fleet/courier"
	"ccbot/fleet/wire"
	"ccbot/internal/pause"
	"ccbot/internal/spool"
	"ccbot/port"
	"ccbot/port/news"
)

// mostNews is the size of the largest news: an item of the courier is one message.
const mostNews = partSize

// retryInterval is the time until news that the chat could not keep are offered to it again.
const retryInterval = time.Second

// Outbox stores the news of a host for the chat. It implements wire.Chat.
type Outbox struct {
	End  *courier.End
	Host string // name
}

// SessionNews returns when the news are stored.
func (o Outbox) SessionNews(ctx context.Context, s port.Session, n news.News) error {
	c := wire.Client{From: o.Host, To: "chat", Transport: o.store}
	return c.SessionNews(ctx, s, n)
}

func (o Outbox) store(_ context.Context, e wire.Envelope) (wire.Envelope, error) {
	data, err := wire.Encode(e)
	if err == nil && len(data) > mostNews {
		err = fmt.Errorf("news of %d bytes: %w", len(data), ErrTooLarge)
	}
	if err != nil {
		return wire.Envelope{}, err
	}
	return wire.Envelope{V: wire.Version, Kind: e.Kind, ID: e.ID}, o.End.Put(data)
}

// mostUnread is the number of unread news that stay on the chat's disk, beyond which the later ones
// wait at their host.
const mostUnread = 128

// Delivery passes the news of a host on to the chat.
type Delivery struct {
	End    *courier.End
	Unread spool.Folder // has the news that this program cannot read
	To     wire.Chat
	Report func(error) // gets each error
	// OnUnread is called with the number of unread news, at the begin and after each change.
	OnUnread func(n int)
}

// Run passes news on in order until ctx ends. A failed delivery is repeated. News that this program
// cannot read delay no others: the next start, perhaps of a newer program, delivers them as late.
func (d Delivery) Run(ctx context.Context) error {
	if err := persist(ctx, d.Report, func() error { return d.deliverUnread(ctx) }); err != nil {
		return err
	}
	for {
		var item courier.Item
		for _, step := range []func() error{
			func() (err error) { item, err = d.End.Next(ctx); return err },
			func() error { return d.deliver(ctx, item) },
			func() error { return d.End.Done(item) },
		} {
			if err := persist(ctx, d.Report, step); err != nil {
				return err
			}
		}
	}
}

// deliver passes an item on, or stores it among the unread ones if there are not too many.
func (d Delivery) deliver(ctx context.Context, item courier.Item) error {
	err := wire.Reader{Chat: d.To}.Take(ctx, item.Body)
	if !errors.Is(err, wire.ErrUnread) {
		return err
	}
	names, listed := d.Unread.List()
	if listed != nil || len(names) >= mostUnread {
		return errors.Join(err, listed)
	}
	d.Report(err)
	if err := d.Unread.Put(fmt.Sprintf("%s_%020d", item.Life, item.Seq), item.Body); err != nil {
		return err
	}
	return d.countUnread()
}

// deliverUnread passes those stored news on that this program can read.
func (d Delivery) deliverUnread(ctx context.Context) error {
	names, err := d.Unread.List()
	if err != nil {
		return err
	}
	for _, name := range names {
		body, err := d.Unread.Read(name)
		if err == nil {
			err = wire.Reader{Chat: d.To, Late: true}.Take(ctx, body)
		}
		if errors.Is(err, wire.ErrUnread) {
			continue
		}
		if err == nil {
			err = d.Unread.Remove(name)
		}
		if err != nil {
			return err
		}
	}
	return d.countUnread()
}

func (d Delivery) countUnread() error {
	names, err := d.Unread.List()
	if err == nil {
		d.OnUnread(len(names))
	}
	return err
}

func persist(ctx context.Context, report func(error), do func() error) error {
	for {
		err := do()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			return nil
		}
		report(err)
		if err := pause.For(ctx, retryInterval); err != nil {
			return err
		}
	}
}
