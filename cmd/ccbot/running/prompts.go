package running

import (
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"ccbot/bot/inbox"
	"ccbot/lifecycle/typing"
	"ccbot/port/talk"
)

// prompts shows the inbox to lifecycle as the store of prompts.
type prompts struct{ inbox *inbox.Store }

// Prompt reads a prompt; typing.ErrNoPrompt says that no queue holds it.
func (p prompts) Prompt(key string) (typing.Prompt, error) {
	e, err := p.inbox.Load(key)
	if errors.Is(err, inbox.ErrNoEntry) {
		return typing.Prompt{}, typing.ErrNoPrompt
	}
	if err != nil {
		return typing.Prompt{}, err
	}
	if !slices.Contains(queued, e.State) {
		return typing.Prompt{}, typing.ErrNoPrompt
	}
	return promptOf(e), nil
}

// NewPrompt reads an untyped prompt, as HoldPrompt would hold it.
func (p prompts) NewPrompt(key string, session uuid.UUID) (typing.Prompt, error) {
	e, err := p.inbox.Load(key)
	if err == nil {
		err = hold(&e, session)
	}
	return promptOf(e), asNotExist(err)
}

func promptOf(e inbox.Entry) typing.Prompt {
	return typing.Prompt{Key: e.Key, Session: e.Session, Text: e.Text, Since: e.Received, Class: e.Class,
		State: typing.PromptState(e.State), Mark: copyOf(e.Typing), Reported: slices.Clone(e.Reported), Repeated: e.Repeated}
}

// copyOf returns a separate mark: the typing of a prompt changes its mark before that is saved.
func copyOf(m *talk.Mark) *talk.Mark {
	if m == nil {
		return nil
	}
	mark := *m
	return &mark
}

// queued are the states of a prompt that a queue holds.
var queued = []inbox.State{inbox.Held, inbox.Typing, inbox.Unproven}

// HoldPrompt puts an untyped prompt into a session's queue. typing.ErrNoPrompt: the prompt was
// typed already, or is finished.
func (p prompts) HoldPrompt(key string, session uuid.UUID) error {
	return asNotExist(p.inbox.Change(key, func(e *inbox.Entry) error { return hold(e, session) }))
}

func hold(e *inbox.Entry, session uuid.UUID) error {
	switch {
	case e.State == inbox.Held && e.Session == session:
		return errUnchanged
	case e.State == inbox.Typing || e.State == inbox.Unproven && e.Typing != nil:
		return fmt.Errorf("entry %s is %s: %w", e.Key, e.State, typing.ErrNoPrompt)
	}
	e.State, e.Session, e.Stale, e.Reported = inbox.Held, session, false, nil
	return nil
}

// SavePrompt puts a prompt's new state on disk.
func (p prompts) SavePrompt(q typing.Prompt) error {
	return asNotExist(p.inbox.Change(q.Key, func(e *inbox.Entry) error {
		if !slices.Contains(queued, e.State) { // it is typed before it was held
			if e.Text != q.Text || e.Class != q.Class { // the next step types what it says now
				return fmt.Errorf("entry %s was edited since it was read", e.Key)
			}
			if err := hold(e, q.Session); err != nil {
				return err
			}
		}
		e.State, e.Reported, e.Typing = inbox.State(q.State), slices.Clone(q.Reported), copyOf(q.Mark)
		e.Text, e.Class = q.Text, q.Class // which Reword changes
		e.Repeated = q.Repeated
		return nil
	}))
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

// FinishPrompt ends a prompt for good.
func (p prompts) FinishPrompt(key string) error { return p.inbox.Finish(key) }

// Waiting lists the unfinished prompts of each session, in order. Prompts that wait for a person's
// answer are in no queue, and are left out. With inbox.ErrUnread some may be missing.
func (p prompts) Waiting() (map[uuid.UUID][]string, error) {
	return p.bySession(queued...)
}

// Left is Waiting including the prompts that wait for a person's answer: all that must be reported
// before a session is forgotten.
func (p prompts) Left() (map[uuid.UUID][]string, error) {
	return p.bySession(append(slices.Clone(queued), inbox.Asked)...)
}

func (p prompts) bySession(states ...inbox.State) (map[uuid.UUID][]string, error) {
	entries, err := p.inbox.List()
	all := make(map[uuid.UUID][]string)
	for _, e := range entries {
		if slices.Contains(states, e.State) {
			all[e.Session] = append(all[e.Session], e.Key)
		}
	}
	return all, err
}
