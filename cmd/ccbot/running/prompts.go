package running

import (
	"context"
	"errors"
	"log/slog"

	"github.com/google/uuid"

	"ccbot/bot/inbox"
	"ccbot/bot/offer"
	"ccbot/cmd/ccbot/engine"
	"ccbot/cmd/ccbot/reply"
	"ccbot/internal/address"
	"ccbot/internal/logkey"
	accepted "ccbot/internal/prompts"
	"ccbot/lifecycle/outcome"
	"ccbot/port/refusal"
)

// prompts are the entries of the chat, and the prompts of the engine on the same machine, at a
// start. While both run they meet only in calls and news: see package offer and engine.PromptStore.
type prompts struct {
	inbox *inbox.Store
	held  *engine.PromptStore
	log   *slog.Logger
}

// machineSessions are the sessions of all machines.
type machineSessions interface {
	TakeBack(ctx context.Context, id uuid.UUID, key string, number int64, held bool) error
}

// takeBackFrom makes the inbox take prompts back from the machines that have them. A machine that
// was removed is not asked: it has no way to the chat.
func takeBackFrom(ctx context.Context, all machineSessions) func(e inbox.Entry, held bool) error {
	return func(e inbox.Entry, held bool) error {
		err := all.TakeBack(context.WithoutCancel(ctx), e.Session, e.Key, e.Number, held)
		if refusal.Is(err, refusal.NoMachine) {
			return nil
		}
		return err
	}
}

// waiting lists the unfinished prompts of each session, in order.
func (p *prompts) waiting() (map[uuid.UUID][]string, error) {
	all, _, err := p.held.Files.List()
	return accepted.Of(all), err
}

// agree makes both stores agree after a crash, before anything is typed: the engine reports its
// prompts, and the chat repeats the offers that it has not answered.
func (p *prompts) agree() error {
	p.inbox.NumberAbove(p.held.Last()) // the chat's file of numbers may be gone
	entries, unread := p.inbox.List()
	if err := unlessUnread(unread); err != nil {
		return err
	}
	known := make(map[string]bool)
	for _, e := range entries {
		known[e.Key] = true
	}
	if unread == nil {
		if err := p.held.Files.SetAside(func(key string) bool { return known[key] }); err != nil {
			p.log.Error("prompts_not_forgotten", logkey.Error, err)
		}
	}
	if err := p.held.ReportAll(); err != nil {
		return err
	}
	entries, err := p.inbox.List()
	p.held.Settle(offer.Settled(p.inbox))
	for _, e := range entries {
		if e.Machine == "" && e.State.IsOffered() && !p.has(e) {
			if err := p.held.Hold(e.Offer(), e.Session); err != nil { // it cannot be read now, and is not typed until then
				p.log.Error("prompt_unreadable", logkey.Key, e.Key, logkey.Error, err)
			}
		}
	}
	return unlessUnread(err)
}

// has reports whether the engine has answered the last offer of an entry.
func (p *prompts) has(e inbox.Entry) bool {
	q, _, err := p.held.Files.Find(e.Key)
	return err == nil && int64(q.Number) >= e.Number
}

// outcomeOf returns a prompt as the outcome of its turn needs it.
func (p *prompts) outcomeOf(key string) (outcome.Prompt, error) {
	e, err := p.inbox.Load(key)
	finished := errors.Is(err, inbox.ErrNoEntry)
	if finished {
		e, err = p.inbox.Finished(key)
	}
	if errors.Is(err, inbox.ErrNoEntry) {
		return outcome.Prompt{Finished: true}, nil
	}
	if err != nil {
		return outcome.Prompt{}, err
	}
	switch q, as, err := p.held.Files.Find(key); {
	case err == nil && q.Tells(as, accepted.Number(e.Number)):
		e.Text, e.Class, e.Typing = q.Text, q.Class, q.Mark
	case err != nil && !errors.Is(err, accepted.ErrNoPrompt):
		return outcome.Prompt{}, err
	}
	return reply.PromptOf(e, finished), nil
}

// offers offers entries to the engine of this machine. They move no session: nobody has just written them.
func (p *prompts) offers(to offer.Engines) offer.Prompts {
	return offer.Prompts{Entries: p.inbox, Engines: to, MachineOf: func(uuid.UUID) string { return "" },
		Home: func(inbox.Entry, uuid.UUID) (address.Conversation, bool) { return address.Conversation{}, false }}
}

// unlessUnread returns err unless it only says that some entries were not read.
func unlessUnread(err error) error {
	if errors.Is(err, inbox.ErrUnread) {
		return nil
	}
	return err
}
