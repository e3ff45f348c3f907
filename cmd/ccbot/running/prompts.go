package running

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/google/uuid"

	"ccbot/bot/inbox"
	"ccbot/cmd/ccbot/reply"
	"ccbot/internal/logkey"
	engine "ccbot/internal/prompts"
	"ccbot/lifecycle/outcome"
	"ccbot/lifecycle/typing"
	"ccbot/port/talk"
)

// prompts hands prompts over from the chat, whose entries are in the inbox, to the engine, which
// has its own store; see package internal/prompts. From the hand-over until the outcome only the
// engine's store decides about a prompt, and the chat's entry shows its progress.
type prompts struct {
	// Failpoint is called at each persisted step. It is nil except in programs built to crash
	// there.
	Failpoint func(name string)

	inbox *inbox.Store
	store *engine.Store
	log   *slog.Logger

	unshown sync.Map   // keys whose last save has failed: the chat may show an earlier state than the file
	saving  sync.Mutex // held while a session saves a prompt: another one may have it since
}

func newPrompts(in *inbox.Store, store *engine.Store, log *slog.Logger) *prompts {
	p := &prompts{inbox: in, store: store, log: log}
	in.TakeBack = p.takeBack
	in.NumberAbove(int64(store.Last())) // the chat's file of numbers may be gone
	return p
}

// takeBack takes a prompt back from the engine, if the engine has it.
func (p *prompts) takeBack(key string) error {
	if _, err := p.store.Prompt(key); errors.Is(err, engine.ErrNoPrompt) {
		return nil
	}
	err := p.store.Finish(key, engine.Returned)
	p.at("prompt-taken-back")
	return err
}

func (p *prompts) at(failpoint string) {
	if p.Failpoint != nil {
		p.Failpoint(failpoint)
	}
}

// Prompt implements typing.Prompts. A prompt that was offered, and that the engine does not have
// yet because a fault or a crash came in between, is held now.
func (p *prompts) Prompt(key string) (typing.Prompt, error) {
	q, err := p.store.Prompt(key)
	if !errors.Is(err, engine.ErrNoPrompt) {
		if _, late := p.unshown.Load(key); late && err == nil {
			p.unshown.Delete(key)
			p.show(q)
		}
		return promptOf(q), err
	}
	if err := p.repair(key); err != nil {
		return typing.Prompt{}, err
	}
	if q, err = p.store.Prompt(key); errors.Is(err, engine.ErrNoPrompt) {
		if q, err = p.accept(key); err == nil {
			err = p.store.Save(q)
		}
	}
	return promptOf(q), err
}

// repair finishes what a fault has left undone. The chat finishes an entry whose prompt the engine
// has delivered. A prompt that the chat has taken back, and whose entry it could not change then, is
// the engine's again.
func (p *prompts) repair(key string) error {
	q, as, err := p.store.Find(key)
	if err != nil || as == "" {
		return nil // it is as it should be, or cannot be read now
	}
	e, err := p.inbox.Load(key)
	if err != nil || !slices.Contains(queued, e.State) || e.Number > int64(q.Number) {
		return nil
	}
	if as == engine.Delivered {
		return asNotExist(p.inbox.FinishIn(key, e.State))
	}
	return asNotExist(p.inbox.Change(key, func(e *inbox.Entry) error { // no other change comes in between
		if !slices.Contains(queued, e.State) {
			return errUnchanged
		}
		return cmp.Or(p.store.GiveBack(key, engine.Number(e.Number)), errUnchanged)
	}))
}

// accept returns the offered prompt of an entry that the engine does not have yet, or holds.
func (p *prompts) accept(key string) (q engine.Prompt, err error) {
	e, err := p.inbox.Load(key)
	if err != nil {
		return q, asNotExist(err)
	}
	if e.State != inbox.Held {
		return q, typing.ErrNoPrompt
	}
	q, ended, err := p.store.Accept(offerOf(e))
	if err == nil && (ended != "" || q.State != engine.Held) {
		err = fmt.Errorf("prompt %s is %s: %w", key, cmp.Or(string(ended), string(q.State)), typing.ErrNoPrompt)
	}
	return q, err
}

func offerOf(e inbox.Entry) engine.Prompt {
	return engine.Prompt{Key: e.Key, Number: engine.Number(e.Number), Session: e.Session, Text: e.Text, Class: e.Class, Since: e.Received}
}

func promptOf(q engine.Prompt) typing.Prompt {
	return typing.Prompt{Key: q.Key, Number: int64(q.Number), Session: q.Session, Text: q.Text, Since: q.Since, Class: q.Class,
		State: typing.PromptState(q.State), Mark: q.Mark, Reported: q.Waits, Repeated: q.Repeats}
}

// NewPrompt implements typing.Prompts: it puts the number of the offer on the chat's disk.
func (p *prompts) NewPrompt(key string, session uuid.UUID) (typing.Prompt, error) {
	err := p.inbox.Change(key, func(e *inbox.Entry) error {
		if q, err := p.store.Prompt(key); err == nil && q.State != engine.Held {
			return fmt.Errorf("prompt %s is %s: %w", key, q.State, typing.ErrNoPrompt)
		}
		return offer(e, session)
	})
	if err := asNotExist(err); err != nil {
		return typing.Prompt{}, err
	}
	p.at("prompt-offered")
	q, err := p.accept(key)
	return promptOf(q), err
}

// offer makes an entry one that is offered to the engine of a session.
func offer(e *inbox.Entry, session uuid.UUID) error {
	switch {
	case e.State == inbox.Held && e.Session == session && e.Number > 0:
		return errUnchanged
	case e.State == inbox.Typing, e.State == inbox.Unproven:
		return fmt.Errorf("entry %s is %s: %w", e.Key, e.State, typing.ErrNoPrompt)
	}
	e.State, e.Session, e.Number, e.Stale, e.Reported = inbox.Held, session, 0, false, nil
	return nil
}

// HoldPrompt implements typing.Prompts.
func (p *prompts) HoldPrompt(key string, session uuid.UUID) error {
	q, err := p.NewPrompt(key, session)
	if err != nil {
		return err
	}
	return p.SavePrompt(q)
}

// SavePrompt implements typing.Prompts.
func (p *prompts) SavePrompt(q typing.Prompt) error {
	p.saving.Lock()
	defer p.saving.Unlock()
	now, err := p.store.Prompt(q.Key)
	if err == nil && int64(now.Number) > q.Number && now.Session != q.Session {
		err = fmt.Errorf("prompt %s is that of session %s since: %w", q.Key, now.Session, typing.ErrNoPrompt)
	}
	if errors.Is(err, engine.ErrNoPrompt) { // it is typed before it was held
		if now, err = p.accept(q.Key); err == nil && (now.Text != q.Text || now.Class != q.Class) {
			err = fmt.Errorf("entry %s was edited since it was read", q.Key)
		}
	}
	if err != nil {
		return err
	}
	now.Number = max(now.Number, engine.Number(q.Number))
	if e, err := p.inbox.Load(q.Key); err == nil { // its last offer may have failed, and is not a new one when the prompt is finished
		now.Number = max(now.Number, engine.Number(e.Number))
	}
	now.Session, now.Text, now.Class, now.State = q.Session, q.Text, q.Class, engine.State(q.State)
	now.Mark, now.Waits, now.Repeats = copyOf(q.Mark), slices.Clone(q.Reported), q.Repeated
	if err := p.store.Save(now); err != nil {
		p.unshown.Store(q.Key, nil)
		return err
	}
	p.show(now)
	return nil
}

// show shows the engine's progress in the chat's entry.
func (p *prompts) show(q engine.Prompt) {
	p.inbox.Show(q.Key, func(e *inbox.Entry) {
		e.State, e.Session, e.Reported, e.Typing = inbox.State(q.State), q.Session, slices.Clone(q.Waits), copyOf(q.Mark)
		e.Text, e.Class, e.Repeated = q.Text, q.Class, q.Repeats
	})
}

// copyOf returns a separate mark: the typing of a prompt changes its mark before that is saved.
func copyOf(m *talk.Mark) *talk.Mark {
	if m == nil {
		return nil
	}
	mark := *m
	return &mark
}

// asNotExist translates the error of a change into the one that lifecycle knows.
func asNotExist(err error) error {
	switch {
	case errors.Is(err, errUnchanged):
		return nil
	case errors.Is(err, inbox.ErrNoEntry):
		return typing.ErrNoPrompt
	}
	return err
}

var errUnchanged = errors.New("the entry is so already")

// FinishPrompt implements typing.Prompts: the engine finishes the prompt, and then the chat its
// entry.
func (p *prompts) FinishPrompt(key string) error {
	if err := p.store.Finish(key, engine.Delivered); err != nil {
		return err
	}
	p.at("prompt-ended")
	err := p.inbox.Finish(key)
	if p.store.MaySettle() {
		p.forget()
	}
	return err
}

// forget removes what is left of prompts that are over. If that fails, it is done later.
func (p *prompts) forget() {
	if err := p.settle(); err != nil {
		p.log.Error("prompts_not_forgotten", logkey.Error, err)
	}
}

// settle tells the engine up to which number all is over for the chat.
func (p *prompts) settle() error {
	n := p.inbox.LastNumber() // it comes first: each entry with an earlier number is listed, or finished
	entries, err := p.inbox.List()
	for _, e := range entries {
		if slices.Contains(queued, e.State) {
			n = min(n, e.Number-1)
		}
	}
	if err != nil {
		return unlessUnread(err)
	}
	return p.store.Settle(engine.Number(n))
}

// queued are the states of a prompt that an engine has, or is about to have.
var queued = []inbox.State{inbox.Held, inbox.Typing, inbox.Unproven}

// agree makes both stores agree after a crash, before anything is typed. It takes over the prompts
// of a ccbot that had only the inbox, with the marks of those that it was typing.
func (p *prompts) agree() error {
	entries, unread := p.inbox.List()
	if err := unlessUnread(unread); err != nil {
		return err
	}
	open := make(map[string]bool)
	for _, e := range entries {
		if !slices.Contains(queued, e.State) {
			continue
		}
		open[e.Key] = true
		if err := p.agreeOn(e); err != nil {
			return fmt.Errorf("prompt %s: %w", e.Key, err)
		}
	}
	all, _, err := p.store.List()
	for _, q := range all {
		if err == nil && unread == nil && !open[q.Key] { // the chat has finished it, or asks about it
			err = p.store.Finish(q.Key, engine.Returned)
		}
	}
	p.forget()
	return err
}

// agreeOn makes an offered entry and the engine's prompt agree.
func (p *prompts) agreeOn(e inbox.Entry) error {
	q, ended, err := p.store.Find(e.Key)
	absent := errors.Is(err, engine.ErrNoPrompt)
	if err != nil && !absent { // if the file is damaged, it becomes unproven
		q, ended, err = p.store.Accept(offerOf(e))
	}
	switch {
	case absent && (e.Number == 0 || e.State != inbox.Held):
		return p.takeOver(e)
	case absent, err == nil && ended != "" && int64(q.Number) < e.Number: // the offer was not accepted yet
		return nil
	case err != nil: // it cannot be read now, and is not typed until then
		p.log.Error("prompt_unreadable", logkey.Key, e.Key, logkey.Error, err)
		return nil
	case ended == engine.Delivered:
		return p.inbox.Finish(e.Key)
	case ended != "": // a person is asked about it
		return p.inbox.Change(e.Key, func(e *inbox.Entry) error {
			e.State, e.Stale, e.Reported, e.Typing = inbox.Asked, false, nil, nil
			return nil
		})
	}
	if int64(q.Number) < e.Number { // the last offer was not answered, and is not a new one when the prompt is finished
		if q.Number = engine.Number(e.Number); q.State == engine.Held {
			q.Session = e.Session
		}
		if err := p.store.Save(q); err != nil {
			return err
		}
	}
	p.show(q)
	return nil
}

// takeOver puts an entry of a ccbot that had no other store into the engine's store. The entry gets
// its number first, so that a crash in between repeats this.
func (p *prompts) takeOver(e inbox.Entry) error {
	if err := p.inbox.Change(e.Key, func(*inbox.Entry) error { return nil }); err != nil {
		return err
	}
	e, err := p.inbox.Load(e.Key)
	if err != nil {
		return err
	}
	q := offerOf(e)
	q.State, q.Mark, q.Waits, q.Repeats = engine.State(e.State), copyOf(e.Typing), slices.Clone(e.Reported), e.Repeated
	if err := p.store.Save(q); err != nil {
		return err
	}
	p.at("prompt-taken-over")
	p.show(q)
	return nil
}

// move gives a prompt to another session.
func (p *prompts) move(key string, from, to uuid.UUID) error {
	q, err := p.store.Prompt(key)
	if err == nil && q.Session == from {
		q.Session = to
		if err = p.store.Save(q); err == nil {
			p.show(q)
		}
	}
	if err != nil && !errors.Is(err, engine.ErrNoPrompt) {
		return err
	}
	err = p.inbox.Change(key, func(e *inbox.Entry) error {
		if e.Session == from {
			e.Session = to
		}
		return nil
	})
	if errors.Is(err, inbox.ErrNoEntry) {
		return nil
	}
	return err
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
	switch q, as, err := p.store.Find(key); {
	case err == nil && q.Tells(as, engine.Number(e.Number)):
		e.Text, e.Class, e.Typing = q.Text, q.Class, q.Mark
	case err != nil && !errors.Is(err, engine.ErrNoPrompt):
		return outcome.Prompt{}, err
	}
	return reply.PromptOf(e, finished), nil
}

// Waiting lists the unfinished prompts of each session, in order. Prompts that wait for a person's
// answer are in no queue, and are left out. With inbox.ErrUnread some may be missing.
func (p *prompts) Waiting() (map[uuid.UUID][]string, error) {
	return p.bySession(queued...)
}

// Left is Waiting including the prompts that wait for a person's answer: all that must be reported
// before a session is forgotten.
func (p *prompts) Left() (map[uuid.UUID][]string, error) {
	return p.bySession(append(slices.Clone(queued), inbox.Asked)...)
}

func (p *prompts) bySession(states ...inbox.State) (map[uuid.UUID][]string, error) {
	entries, err := p.inbox.List()
	all := make(map[uuid.UUID][]string)
	for _, e := range entries {
		if slices.Contains(states, e.State) {
			all[e.Session] = append(all[e.Session], e.Key)
		}
	}
	return all, err
}

// unlessUnread returns err unless it only says that some entries were not read.
func unlessUnread(err error) error {
	if errors.Is(err, inbox.ErrUnread) {
		return nil
	}
	return err
}
