package rpc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ccbot/fleet/courier"
	"ccbot/fleet/wire"
	"ccbot/internal/pause"
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
// wait. The courier has room for more, so that these pass.
const mostUnread = 128

// Delivery passes the news of a host on to the chat.
type Delivery struct {
	End    *courier.End
	To     wire.Chat
	Report func(error) // gets each error
	// Unread is called with the number of news that this program cannot read, after each change.
	Unread func(n int)
}

// Run passes news on in order until ctx ends. A failed delivery is repeated. News that this program
// cannot read stay with the courier, which returns them first after the next start: it may be the
// start of a newer program.
func (d Delivery) Run(ctx context.Context) error {
	r, unread := wire.Reader{Chat: d.To}, 0
	for {
		var item courier.Item
		stays := false
		for _, step := range []func() error{
			func() (err error) { item, err = d.End.Next(ctx); return err },
			func() error {
				err := r.Take(ctx, item.Body)
				if stays = errors.Is(err, wire.ErrUnread) && unread < mostUnread; !stays {
					return err
				}
				unread++
				d.Unread(unread)
				d.Report(err)
				return nil
			},
			func() error {
				if stays {
					return nil
				}
				return d.End.Done(item)
			},
		} {
			if err := persist(ctx, d.Report, step); err != nil {
				return err
			}
		}
	}
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
