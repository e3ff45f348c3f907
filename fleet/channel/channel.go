// Package channel carries the items of package courier in the messages of package seal.
//
// It promises:
//
//   - The courier gets only bytes that the other end sealed for this end in the present epoch. A
//     message that is refused has no effect; its item is sent again, in another message.
//   - Both ends agree on an epoch after either of them has started, without a call of their
//     programs. Then all open items are sent again at once.
//
// It has no goroutine, and stores only what the packages below it store.
package channel

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"

	"ccbot/fleet/courier"
	"ccbot/fleet/seal"
)

// The kinds of messages, besides seal.Hello.
const (
	welcome = "welcome" // of the chat: its epoch
	item    = "courier" // a frame of the courier
)

// Channel is one end. It is the Sender of the courier's end.
type Channel struct {
	link   *seal.Link
	hub    courier.Sender
	isChat bool
	end    atomic.Pointer[courier.End]
}

// Open returns the chat's end or a host's end, with the courier's end that it carries. s.Sender
// sends the sealed bytes to the hub.
func Open(link *seal.Link, isChat bool, s courier.Settings) (*Channel, *courier.End, error) {
	c := &Channel{link: link, hub: s.Sender, isChat: isChat}
	s.Sender = c
	end, err := courier.Open(s)
	if err != nil {
		return nil, nil, err
	}
	c.end.Store(end)
	link.OnRenew = end.BeginLife // the numbers of its items were set back, too
	return c, end, nil
}

// Greet sends the first message of this end: the host's hello, or the chat's epoch.
func (c *Channel) Greet(ctx context.Context) error {
	kind := seal.Hello
	if c.isChat {
		kind = welcome
	}
	return c.send(ctx, kind, kind+"#"+rand.Text(), nil)
}

// Send sends a frame of the courier. A host without an epoch sends a hello instead, and the courier
// sends the frame again.
func (c *Channel) Send(ctx context.Context, id string, data []byte) error {
	if !c.link.HasEpoch() {
		return errors.Join(seal.ErrEpoch, c.Greet(ctx))
	}
	return c.send(ctx, item, id, data)
}

func (c *Channel) send(ctx context.Context, kind, id string, data []byte) error {
	sealed, err := c.link.Seal(seal.Message{Kind: kind, Body: data})
	if err != nil {
		return err
	}
	return c.hub.Send(ctx, id, sealed)
}

// Receive takes a message from the hub. An error means that the message had no effect.
func (c *Channel) Receive(ctx context.Context, sealed []byte) error {
	m, err := c.link.Open(sealed)
	if errors.Is(err, seal.ErrEpoch) && c.isChat {
		return errors.Join(err, c.Greet(ctx)) // the host does not know the epoch yet
	}
	if err != nil {
		return err
	}
	switch m.Kind {
	case seal.Hello:
		if err := c.Greet(ctx); err != nil {
			return err
		}
		c.end.Load().SendAgain()
		return nil
	case welcome:
		c.end.Load().SendAgain()
		return nil
	case item:
		return c.end.Load().Receive(ctx, m.Body)
	}
	return fmt.Errorf("channel: a message of kind %q: %w", m.Kind, errors.ErrUnsupported)
}
