package offer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/inbox"
	"ccbot/internal/pause"
	"ccbot/port/refusal"
)

// againInterval is the time between two offers of a prompt to a machine that cannot be reached.
const againInterval = 5 * time.Second

// People decide about prompts, and learn what these wait for.
type People struct {
	IsLate func(e inbox.Entry) bool
	Ask    func(ctx context.Context, e inbox.Entry) error // about a prompt that is late
	// Tell reports that a machine does not answer, or answers that it cannot keep a prompt; it may be called again.
	Tell func(ctx context.Context, e inbox.Entry, failed error) error
}

// Again repeats the offers that other machines have not answered, until ctx ends. A prompt that is
// late, or that a person has taken back, is taken back from its machine instead.
func (o Prompts) Again(ctx context.Context, people People, report func(error)) error {
	for {
		all, err := o.repeat(ctx, people)
		if err != nil && ctx.Err() == nil {
			report(err)
		}
		rest := pause.Forever
		if err != nil || !all {
			rest = againInterval
		}
		if pause.Until(ctx, rest, o.again); ctx.Err() != nil {
			return nil
		}
	}
}

// repeat repeats the unanswered offers once, and reports whether all machines were reached.
func (o Prompts) repeat(ctx context.Context, people People) (all bool, err error) {
	entries, err := o.Entries.List()
	slices.SortFunc(entries, func(a, b inbox.Entry) int { return cmp.Compare(a.Number, b.Number) }) // as people wrote them
	away, behind, failing := make(map[string]error), make(map[uuid.UUID]bool), make(map[uuid.UUID]bool)
	for _, e := range entries {
		if e.Machine == "" || e.Owned || e.State != inbox.Held || failing[e.Session] {
			continue
		}
		failed := cmp.Or[error](away[e.Machine], refusal.ErrUnreachable)
		if away[e.Machine] == nil && !behind[e.Session] { // even if its machine answers meanwhile
			e, failed = o.offerOrTakeBack(ctx, e, people)
		}
		switch {
		case hasFailed(failed):
			away[e.Machine], behind[e.Session] = failed, true
			err = errors.Join(err, people.Tell(ctx, e, failed))
			if refusal.Is(failed, refusal.Internal) {
				err = errors.Join(err, fmt.Errorf("offer prompt %s again: %w", e.Key, failed))
			}
			continue
		case refusal.Is(failed, refusal.NotFound): // it was typed, or is finished: news report that
			failed = nil
		}
		if failed == nil {
			failed = o.own(e)
		}
		if failed != nil {
			failing[e.Session] = true
			err = errors.Join(err, fmt.Errorf("offer prompt %s again: %w", e.Key, failed))
		}
	}
	return len(away) == 0, err
}

// offerOrTakeBack offers an entry again, or takes it back.
func (o Prompts) offerOrTakeBack(ctx context.Context, e inbox.Entry, people People) (inbox.Entry, error) {
	e, err := o.locate(e)
	switch {
	case err != nil:
		return e, err
	case e.Cancelled:
		return e, o.Entries.FinishIn(e.Key, inbox.Held)
	case people.IsLate(e):
		if err = o.Engines.TakeBack(ctx, e.Session, e.Key, e.Number, true); err == nil {
			err = people.Ask(ctx, e)
		}
		return e, err
	}
	return e, o.Engines.Keep(ctx, e.Session, e.Offer())
}

// locate notes the machine of an entry's session, if it has answered since.
func (o Prompts) locate(e inbox.Entry) (inbox.Entry, error) {
	if e.Machine != unknownMachine {
		return e, nil
	}
	on := o.MachineOf(e.Session)
	if on == unknownMachine {
		return e, refusal.ErrUnreachable
	}
	e.Machine = on
	return e, o.Entries.Change(e.Key, func(now *inbox.Entry) error {
		now.Machine = on
		return nil
	})
}

// mustWait reports whether a prompt cannot be offered now: its machine is unknown, or an earlier
// prompt of the session waits for an answer and must not be overtaken.
func (o Prompts) mustWait(e inbox.Entry) (bool, error) {
	if e.Machine == "" || e.Machine == unknownMachine {
		return e.Machine != "", nil
	}
	entries, err := o.Entries.List()
	return slices.ContainsFunc(entries, func(other inbox.Entry) bool {
		return other.Session == e.Session && other.State == inbox.Held && !other.Owned && 0 < other.Number && other.Number < e.Number
	}), err
}

// own notes that another machine has answered the offer of an entry.
func (o Prompts) own(e inbox.Entry) error {
	if e.Machine == "" {
		return nil
	}
	return unlessGone(o.Entries.Change(e.Key, func(now *inbox.Entry) error {
		if now.Number != e.Number || now.Owned {
			return inbox.ErrUnchanged
		}
		now.Owned = true
		return nil
	}))
}

// settleInterval is the least time between two counts of settled.
const settleInterval = time.Hour

// settled counts the offers that are over for the chat.
type settled struct {
	numbers Inbox
	mu      sync.Mutex
	last    int64
	at      time.Time
}

// number returns a number up to which all offers are over; 0: unknown.
func (s *settled) number() int64 {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.at) >= settleInterval {
		s.last, s.at = max(s.last, Settled(s.numbers)), time.Now()
	}
	return s.last
}

// Settled returns a number up to which all offers of an inbox are over; 0: unknown.
func Settled(in Inbox) int64 {
	last := in.LastNumber() // it comes first: each entry with an earlier number is listed, or finished
	entries, err := in.List()
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if e.Number > 0 {
			last = min(last, e.Number-1)
		}
	}
	return last
}
