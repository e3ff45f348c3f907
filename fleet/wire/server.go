package wire

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"ccbot/bot/machine"
	"ccbot/port/refusal"
)

// Server makes calls on this machine.
type Server struct {
	Name    string // of this machine
	Machine *machine.Machine
}

// handler makes one kind of call.
type handler func(ctx context.Context, m *machine.Machine, e Envelope) ([]any, error)

// Answer makes the call of an envelope and returns the answer.
func (s Server) Answer(ctx context.Context, e Envelope) Envelope {
	if e.To != s.Name {
		return e.answer(nil, refusal.New(refusal.NoMachine, "the call is for the machine "+strconv.Quote(e.To)))
	}
	do, ok := handlers[e.Kind]
	if !ok {
		return e.answer(nil, errors.New(unknownCall(e.Kind)))
	}
	return e.answer(do(ctx, s.Machine, e))
}

// unknownCall is the text of the error of a machine whose program has no such call. The text is
// part of the contract, because the machine is older than its chat.
func unknownCall(kind string) string { return "unknown call " + kind }

// method returns the handler of a method, whose arguments are the fields of A.
func method[A any](do func(ctx context.Context, m *machine.Machine, in A) ([]any, error)) handler {
	return func(ctx context.Context, m *machine.Machine, e Envelope) ([]any, error) {
		var in A
		if err := unmarshal(e.Body, &in); err != nil {
			return nil, fmt.Errorf("arguments: %w", err)
		}
		return do(ctx, m, in)
	}
}
