package rpc

import (
	"cmp"
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

// Deliver passes the news of a host on to the chat, in order, until ctx ends. A failed
// delivery is repeated, and report gets its error.
func Deliver(ctx context.Context, end *courier.End, to wire.Chat, report func(error)) error {
	r := wire.Reader{Chat: to}
	for {
		var item courier.Item
		for _, step := range []func() error{
			func() (err error) { item, err = end.Next(ctx); return err },
			func() error { return deliver(ctx, r, item.Body) },
			func() error { return end.Done(item) },
		} {
			if err := persist(ctx, report, step); err != nil {
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

func deliver(ctx context.Context, r wire.Reader, data []byte) error {
	e, err := wire.Decode(data)
	if err != nil {
		return err
	}
	if a := r.Answer(ctx, e); a.Error != nil {
		return errors.New(cmp.Or(a.Error.Masked, a.Error.Text))
	}
	return nil
}
