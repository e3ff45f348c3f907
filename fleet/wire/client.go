package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/google/uuid"

	"ccbot/port/refusal"
)

// Transport carries an envelope to its machine and returns the answer. Its error is the context's,
// or refusal.ErrUnreachable if no answer has arrived.
type Transport func(ctx context.Context, e Envelope) (Envelope, error)

// Client makes calls on another machine.
type Client struct {
	From, To  string // the names of both machines
	Transport Transport
	// Context is the context of calls that have none.
	Context context.Context
	last    atomic.Int64 // id of the last call
}

// args are the arguments of a call, by name.
type args map[string]any

// call makes a call about a session, or about the machine if session is nil, and reads its results.
// Results also come with an error.
func (c *Client) call(ctx context.Context, kind string, session uuid.UUID, in args, results ...any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("arguments of %s: %w", kind, err)
	}
	a, err := c.send(ctx, Envelope{V: Version, Kind: kind, From: c.From, To: c.To, Session: session,
		ID: strconv.FormatInt(c.last.Add(1), 10), Body: body})
	if err != nil {
		return err
	}
	if a.Error != nil && a.Error.Text == unknownCall(kind) {
		if slices.Contains(abilities, kind) {
			return nil
		}
		return &refusal.Error{Code: refusal.OldMachine, Err: errors.New(a.Error.Text)}
	}
	if err := a.results(results); err != nil {
		return err
	}
	return a.Error.decode()
}

// abilities are the calls that ask what a machine can do. An older machine that lacks the call
// lacks the abilities, which are the zero value: the chat draws no button of them.
var abilities = []string{"Agents.Installed"}

// send sends an envelope and waits for its answer until ctx ends.
func (c *Client) send(ctx context.Context, e Envelope) (Envelope, error) {
	if err := ctx.Err(); err != nil {
		return Envelope{}, err
	}
	a, err := c.Transport(ctx, e)
	if ctx.Err() != nil {
		return Envelope{}, ctx.Err()
	}
	if err != nil {
		return Envelope{}, fmt.Errorf("%s on %s: %w", e.Kind, e.To, err)
	}
	return a, nil
}
