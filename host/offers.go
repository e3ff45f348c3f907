package host

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/port/folders"
	"ccbot/port/refusal"
)

// offerFor bounds the time for which an agent waits for the outcome of an offer. It is longer than
// an upload may take.
const offerFor = 15 * time.Minute

var errNotSent = errors.New("the chat could not send the file: its log has the cause")

// Offers are the files that agents offer to the chat. The zero value is ready to use.
type Offers struct {
	mu      sync.Mutex
	waiting map[offer]chan folders.Outcome
}

type offer struct{ session, id uuid.UUID }

// Offer reports a file to the chat and waits for the outcome. Without one in time the error is
// refusal.ErrUnreachable: the chat may still take the file.
func (o *Offers) Offer(ctx context.Context, session uuid.UUID, report func(id uuid.UUID) error) error {
	as, outcome := offer{session, uuid.New()}, make(chan folders.Outcome, 1)
	o.mu.Lock()
	if o.waiting == nil {
		o.waiting = make(map[offer]chan folders.Outcome)
	}
	o.waiting[as] = outcome
	o.mu.Unlock()
	defer o.take(as)
	if err := report(as.id); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, offerFor, refusal.ErrUnreachable)
	defer cancel()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case got := <-outcome:
		switch {
		case got.Taken:
			return nil
		case got.Code == "":
			return errNotSent
		}
		return &refusal.Error{Code: refusal.Code(got.Code), Reason: got.Reason}
	}
}

// take removes an offer that still waits; nil: it does not.
func (o *Offers) take(as offer) chan folders.Outcome {
	o.mu.Lock()
	defer o.mu.Unlock()
	outcome := o.waiting[as]
	delete(o.waiting, as)
	return outcome
}

// Offered implements [folders.Files].
func (m *Machine) Offered(_ context.Context, session, id uuid.UUID, outcome folders.Outcome) error {
	if to := m.Offers.take(offer{session, id}); to != nil {
		to <- outcome
	}
	return nil
}
