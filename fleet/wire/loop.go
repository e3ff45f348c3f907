package wire

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"ccbot/bot/machine"
	"ccbot/internal/pause"
	"ccbot/port/refusal"
)

// Loop connects both ends in one process, through the bytes of the envelopes.
type Loop struct {
	Answer func(ctx context.Context, e Envelope) Envelope // the other end: of a Server or a Reader

	mu     sync.Mutex
	faults Faults
}

// Faults are the faults of a network.
type Faults struct {
	Unreachable bool          // no call arrives
	Cut         bool          // calls are made, and no answer arrives
	Delay       time.Duration // of each envelope, in both directions
	Unknown     []string      // kinds of calls that the other end does not know, because it is older
}

// Set changes the faults of later calls.
func (l *Loop) Set(f Faults) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = f
}

// Call is a Transport.
func (l *Loop) Call(ctx context.Context, e Envelope) (a Envelope, err error) {
	l.mu.Lock()
	f := l.faults
	l.mu.Unlock()
	if e, err = carry(ctx, f.Delay, e); err != nil {
		return a, err
	}
	if f.Unreachable {
		return a, refusal.ErrUnreachable
	}
	if slices.Contains(f.Unknown, e.Kind) {
		return e.answer(nil, errors.New(unknownCall(e.Kind))), nil
	}
	a = l.Answer(ctx, e)
	if f.Cut {
		return Envelope{}, refusal.ErrUnreachable
	}
	return carry(ctx, f.Delay, a)
}

// carry returns an envelope as the other end reads it.
func carry(ctx context.Context, delay time.Duration, e Envelope) (Envelope, error) {
	data, err := Encode(e)
	if err != nil {
		return Envelope{}, err
	}
	if delay > 0 {
		if err := pause.For(ctx, delay); err != nil {
			return Envelope{}, err
		}
	}
	return Decode(data)
}

// Loopback returns a machine that is reached only through the loop. ctx is for calls without a
// context.
func Loopback(ctx context.Context, m *machine.Machine) (*machine.Machine, *Loop) {
	l := &Loop{Answer: Server{Name: "machine", Machine: m}.Answer}
	c := &Client{From: "chat", To: "machine", Transport: l.Call, Context: ctx}
	remote := c.Machine()
	remote.Fonts = m.Fonts // the chat's own
	return remote, l
}
