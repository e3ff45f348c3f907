package offer

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"ccbot/bot/inbox"
	"ccbot/bot/machine"
	"ccbot/internal/address"
	"ccbot/internal/pause"
	"ccbot/port"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// Sessions are the sessions of a machine for features, which name a prompt by its key.
type Sessions struct {
	machine.Sessions
	Prompts
}

// New returns the sessions of all machines for features.
func New(all machine.Sessions, entries Inbox, records port.Views, home Home) Sessions {
	return Sessions{all, Prompts{Entries: entries, Engines: all, Home: func(e inbox.Entry, session uuid.UUID) (address.Conversation, bool) {
		r, known := records.Get(session)
		if len(e.Update) == 0 || !known { // nobody wrote it in the chat
			return address.Conversation{}, false
		}
		return home(e.Conversation, r)
	}, again: make(chan struct{}, 1), settled: &settled{numbers: entries},
		MachineOf: func(id uuid.UUID) string {
			if r, _ := records.Get(id); r.Machine != "" || r.State != port.StateUnknown {
				return r.Machine
			}
			return unknownMachine
		}}}
}

// Home returns where a session is shown that a person uses in a place, and whether more than one
// person may speak to the bot.
type Home func(to address.Conversation, r port.Session) (at address.Conversation, asks bool)

// unknownMachine is the machine of an entry while the machine of its session has not answered since
// the start.
const unknownMachine = "?"

// Queue implements [Queue].
func (s Sessions) Queue(ctx context.Context, session uuid.UUID, key string) error {
	return s.Prompts.Queue(ctx, session, key)
}

// Keep implements [Queue].
func (s Sessions) Keep(ctx context.Context, session uuid.UUID, key string) error {
	return s.Prompts.Keep(ctx, session, key)
}

// Withdraw is talk.PromptEdits.Withdraw with a later number. A text that was kept aside is in no queue
// yet, and is finished.
func (s Sessions) Withdraw(ctx context.Context, session uuid.UUID, key string) error {
	if e, err := s.Entries.Load(key); err == nil && e.State == inbox.Asked && e.Aside != nil {
		return s.Entries.FinishIn(key, inbox.Asked)
	}
	n, err := s.Entries.NextNumber()
	if err != nil {
		return err
	}
	return s.Sessions.Withdraw(ctx, session, key, n)
}

// Cancel takes a prompt back: at once, or when its machine answers again.
func (s Sessions) Cancel(ctx context.Context, session uuid.UUID, key string) error {
	err := s.Entries.Change(key, func(e *inbox.Entry) error {
		if e.Machine == "" || e.Owned {
			return inbox.ErrUnchanged
		}
		e.Cancelled = true
		return nil
	})
	e, unread := s.Entries.Load(key)
	if err = errors.Join(err, unread); err != nil || e.Cancelled {
		pause.Poke(s.again)
		return err
	}
	return s.Withdraw(ctx, session, key)
}

// Reword is talk.PromptEdits.Reword with a later number.
func (s Sessions) Reword(ctx context.Context, session uuid.UUID, key, text string, class talk.PromptClass) error {
	n, err := s.Entries.NextNumber()
	if err != nil {
		return err
	}
	return s.Sessions.Reword(ctx, session, key, n, text, class)
}

// Queue is talk.PromptQueue for prompts that the inbox has.
type Queue interface {
	Queue(ctx context.Context, session uuid.UUID, key string) error
	Keep(ctx context.Context, session uuid.UUID, key string) error
}

// Prompts offers prompts of the inbox to the engines of sessions. An entry is on disk as offered
// before its engine hears of it. If the offer is refused, the entry becomes what it was.
type Prompts struct {
	Entries Inbox
	Engines Engines
	// MachineOf returns the machine of a session, or unknownMachine; empty: the chat's own.
	MachineOf func(session uuid.UUID) string

	// Home returns the place of the turn that an entry begins in a session, see [Home]; zero: where it is
	// shown.
	Home func(e inbox.Entry, session uuid.UUID) (at address.Conversation, asks bool)

	again   chan struct{} // has an item if an offer is to be repeated
	settled *settled
}

// Entries are the entries of the inbox.
type Entries interface {
	Load(key string) (inbox.Entry, error)
	Change(key string, change func(e *inbox.Entry) error) error
	Draft(e, offered inbox.Entry) error
}

// Inbox is the part of the inbox that this package uses: entries, the progress that they show, and
// numbers.
type Inbox interface {
	Entries
	Show(key string, change func(e *inbox.Entry))
	Leave(key string, n int64, delivered bool) error
	FinishIn(key string, state inbox.State) error
	NextNumber() (int64, error)
	LastNumber() int64
	List() ([]inbox.Entry, error)
}

// Engines take prompts.
type Engines interface {
	talk.PromptQueue
	TakeBack(ctx context.Context, id uuid.UUID, key string, number int64, held bool) error
}

// Queue implements [Queue].
func (o Prompts) Queue(ctx context.Context, session uuid.UUID, key string) error {
	return o.offer(ctx, session, key, o.Engines.Queue)
}

// Keep implements [Queue].
func (o Prompts) Keep(ctx context.Context, session uuid.UUID, key string) error {
	return o.offer(ctx, session, key, o.Engines.Keep)
}

func (o Prompts) offer(ctx context.Context, session uuid.UUID, key string, to func(context.Context, uuid.UUID, talk.Offer) error) error {
	var before, now inbox.Entry
	on := o.MachineOf(session)
	waits := false
	err := o.Entries.Change(key, func(e *inbox.Entry) error {
		before = *e
		switch {
		case e.State == inbox.Held && e.Number > 0 && (e.Machine == on || e.Machine == unknownMachine): // its engine decides which session has it
			return inbox.ErrUnchanged
		case e.State == inbox.Typing, e.State == inbox.Unproven, e.State == inbox.Held && e.Number > 0:
			return fmt.Errorf("entry %s is %s: %w", e.Key, e.State, inbox.ErrNoEntry)
		}
		if e.State == inbox.Asked { // the question ended its last offer
			e.Number = 0
		}
		e.State, e.Session, e.Machine, e.Owned, e.Stale, e.Reported, e.Aside = inbox.Held, session, on, false, false, nil, nil
		e.Place, e.Asks = o.Home(*e, session)
		return nil
	})
	if err == nil {
		now, err = o.Entries.Load(key)
	}
	if err == nil {
		waits, err = o.mustWait(now)
	}
	if err == nil && !waits {
		offered := now.Offer()
		offered.Settled = o.settled.number()
		err = to(ctx, session, offered)
	}
	switch {
	case waits, on != "" && hasFailed(err): // its engine may have it
		pause.Poke(o.again)
		return nil
	case err == nil:
		return o.own(now)
	case refusal.Is(err, refusal.NotFound) || before.State == inbox.Held:
		return err
	}
	return errors.Join(err, o.restore(before, now, session))
}

// hasFailed reports whether a machine that is not the chat's own has neither taken nor refused an
// offer.
func hasFailed(err error) bool {
	return refusal.Is(err, refusal.Unreachable) || refusal.MachineOf(err) != "" && refusal.Is(err, refusal.Internal)
}

// restore undoes an offer that failed. If the disk does not take the entry, it is what it was at
// least in memory, with the number of the offer; a start repeats the offer.
func (o Prompts) restore(before, offered inbox.Entry, session uuid.UUID) error {
	err := o.Entries.Change(before.Key, func(now *inbox.Entry) error {
		if now.State != inbox.Held || now.Session != session {
			return inbox.ErrUnchanged
		}
		now.State, now.Session, now.Machine, now.Stale, now.Reported, now.Number = before.State, before.Session, before.Machine, before.Stale, before.Reported, 0
		now.Aside = before.Aside
		return nil
	})
	if err == nil || refusal.Is(err, refusal.NotFound) { // the agent has it
		return nil
	}
	return o.Entries.Draft(before, offered)
}
