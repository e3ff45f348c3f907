package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/prompts"
	"ccbot/lifecycle/typing"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// reportInterval is the time until a report that the chat has not taken is repeated.
const reportInterval = time.Second

// PromptStore implements typing.Prompts by the files of the engine, see package prompts. Each
// change is reported to the chat. The files show what was not reported: a report that the chat has
// not taken is repeated, and a start reports all prompts.
type PromptStore struct {
	// Failpoint is called at each persisted step. It is nil except in programs built to crash
	// there.
	Failpoint func(name string)
	// Report reports a prompt to the chat, and returns when the chat has applied that. It is set
	// before the first change.
	Report func(n news.Progress) error
	// Later makes Run alone report: the calls of the chat must not wait for another machine.
	Later bool
	Files *prompts.Store

	log    *slog.Logger
	saving sync.Mutex // held while a session saves a prompt: another one may have it since

	reporting  sync.Mutex // held during a report, so that the last one has the last state
	mu         sync.Mutex
	unreported map[string]prompts.Number // by key; the number of an offer whose outcome is forgotten
	settled    prompts.Number            // by the last offers
	changed    chan struct{}
}

// OpenPrompts opens the prompts in the folder of ccbot.
func OpenPrompts(dir string, log *slog.Logger) (*PromptStore, error) {
	store, err := prompts.Open(filepath.Join(dir, "prompts"), log)
	if err != nil {
		return nil, err
	}
	return &PromptStore{Files: store, log: log, unreported: make(map[string]prompts.Number), changed: make(chan struct{}, 1)}, nil
}

// Last returns the highest known number of an offer or a command.
func (s *PromptStore) Last() int64 { return int64(s.Files.Last()) }

// Prompt implements typing.Prompts.
func (s *PromptStore) Prompt(key string) (typing.Prompt, error) {
	p, err := s.Files.Prompt(key)
	return promptOf(p), err
}

func promptOf(p prompts.Prompt) typing.Prompt {
	return typing.Prompt{Key: p.Key, Number: int64(p.Number), Session: p.Session, To: p.To, Asks: p.Asks, Text: p.Text, Since: p.Since, Class: p.Class,
		State: typing.PromptState(p.State), Mark: p.Mark, Reported: p.Waits, Repeated: p.Repeats}
}

// Accept implements typing.Prompts. The chat gets a report about a prompt that it need not offer.
func (s *PromptStore) Accept(o talk.Offer, session uuid.UUID) (typing.Prompt, error) {
	s.at("prompt-offered")
	p, ended, err := s.Files.Accept(prompts.Prompt{Key: o.Key, Number: prompts.Number(o.Number), Session: session, To: o.To, Asks: o.Asks, Text: o.Text, Class: o.Class, Since: o.Since})
	s.mu.Lock()
	s.settled = max(s.settled, prompts.Number(o.Settled))
	s.mu.Unlock()
	switch {
	case errors.Is(err, typing.ErrNoPrompt):
		s.report(o.Key, prompts.Number(o.Number))
	case err == nil && (ended != "" || p.State != prompts.Held):
		s.report(o.Key, 0)
		err = fmt.Errorf("prompt %s is %s: %w", o.Key, cmp.Or(string(ended), string(p.State)), typing.ErrNoPrompt)
	}
	return promptOf(p), err
}

// Hold accepts a repeated offer without a queue, as at a start: the recovery makes the queues.
func (s *PromptStore) Hold(o talk.Offer, session uuid.UUID) error {
	p, err := s.Accept(o, session)
	if err == nil {
		err = s.SavePrompt(p)
	}
	if errors.Is(err, typing.ErrNoPrompt) { // it was reported
		return nil
	}
	return err
}

// SavePrompt implements typing.Prompts.
func (s *PromptStore) SavePrompt(q typing.Prompt) error {
	err := s.save(q)
	s.report(q.Key, 0)
	return err
}

func (s *PromptStore) save(q typing.Prompt) error {
	s.saving.Lock()
	defer s.saving.Unlock()
	now, err := s.Files.Prompt(q.Key)
	switch {
	case errors.Is(err, prompts.ErrNoPrompt): // it was accepted just now; Save refuses one that is finished
		now = prompts.Prompt{Key: q.Key, Since: q.Since}
	case err != nil:
		return err
	case now.Session != q.Session:
		return fmt.Errorf("prompt %s is that of session %s since: %w", q.Key, now.Session, typing.ErrNoPrompt)
	}
	now.Number = max(now.Number, prompts.Number(q.Number))
	now.Session, now.To, now.Asks, now.Text, now.Class, now.State = q.Session, q.To, q.Asks, q.Text, q.Class, prompts.State(q.State)
	now.Mark, now.Waits, now.Repeats = q.Mark, slices.Clone(q.Reported), q.Repeated
	return s.Files.Save(now) // which copies the mark
}

// FinishPrompt implements typing.Prompts.
func (s *PromptStore) FinishPrompt(key string) error {
	err := s.Files.Finish(key, prompts.Delivered)
	s.at("prompt-ended")
	s.report(key, 0)
	if s.Files.MaySettle() {
		s.Settle(0)
	}
	return err
}

// Settle removes what is left of prompts whose outcome the chat has: all up to number n, or the
// number of an earlier offer. If that fails, it is done later.
func (s *PromptStore) Settle(n int64) {
	s.mu.Lock()
	s.settled = max(s.settled, prompts.Number(n))
	n = int64(s.settled)
	s.mu.Unlock()
	if err := s.Files.Settle(prompts.Number(n), nil); n > 0 && err != nil {
		s.log.Error("prompts_not_forgotten", logkey.Error, err)
	}
}

// TakeBack implements typing.Prompts. Run reports it, because a report may be the reason of this
// call.
func (s *PromptStore) TakeBack(key string, number int64, held bool) error {
	err := s.Files.TakeBack(key, prompts.Number(number), held)
	s.at("prompt-taken-back")
	s.note(key, 0)
	pause.Poke(s.changed)
	return err
}

// Withdraw implements typing.Prompts.
func (s *PromptStore) Withdraw(key string, number int64) error {
	err := s.Files.Withdraw(key, prompts.Number(number))
	s.report(key, 0)
	return err
}

// Reword implements typing.Prompts.
func (s *PromptStore) Reword(key string, number int64, text string, class talk.PromptClass) error {
	err := s.Files.Reword(key, prompts.Number(number), text, class)
	s.report(key, 0)
	return err
}

// ReportAll reports all prompts, as a start does: the chat may not have the last reports.
func (s *PromptStore) ReportAll() error {
	open, _, err := s.Files.List() // an unreadable file is logged, and decided about by an offer
	if err != nil {
		return err
	}
	over, err := s.Files.Tombstones()
	for _, p := range append(over, open...) {
		s.report(p.Key, 0)
	}
	return err
}

// note notes that a prompt is to be reported. offered is the number of an offer whose outcome is
// forgotten; 0: the store has the prompt.
func (s *PromptStore) note(key string, offered prompts.Number) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unreported[key] = max(offered, s.unreported[key])
}

// report reports a prompt, at once if that is possible, otherwise from Run.
func (s *PromptStore) report(key string, offered prompts.Number) {
	s.note(key, offered)
	if s.Later || s.reportNow(key) != nil {
		pause.Poke(s.changed)
	}
}

// reportNow reports the present state of a prompt. One without a number is not the chat's.
func (s *PromptStore) reportNow(key string) error {
	s.reporting.Lock()
	defer s.reporting.Unlock()
	s.mu.Lock()
	offered, is := s.unreported[key]
	delete(s.unreported, key)
	s.mu.Unlock()
	if !is {
		return nil
	}
	p, ended, err := s.Files.Find(key)
	if errors.Is(err, prompts.ErrNoPrompt) && offered > 0 {
		p, ended, err = prompts.Prompt{Key: key, Number: offered}, prompts.Outcome(talk.PromptForgotten), nil
	}
	if err == nil && p.Number > 0 {
		err = s.Report(progressOf(p, ended))
	}
	if errors.Is(err, prompts.ErrNoPrompt) || errors.Is(err, prompts.ErrDamaged) { // an offer decides about a damaged one
		return nil
	}
	if err != nil {
		s.note(key, offered)
		s.log.Debug("prompt_not_reported", logkey.Key, key, logkey.Error, err)
	}
	return err
}

func progressOf(p prompts.Prompt, ended prompts.Outcome) news.Progress {
	n := news.Progress{Prompt: talk.Prompt{Key: p.Key, Text: p.Text, Class: p.Class, Mark: p.Mark}, Number: int64(p.Number), Session: p.Session,
		State: talk.PromptState(p.State), Waits: p.Waits, Repeated: p.Repeats}
	switch ended {
	case "":
	case prompts.Dropped:
		n.State = talk.PromptDelivered // to no agent; the chat has no more to do for it
	default:
		n.State = talk.PromptState(ended)
	}
	return n
}

// Run repeats reports until ctx ends.
func (s *PromptStore) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.changed:
		}
		for s.Repeat() != nil {
			if err := pause.For(ctx, reportInterval); err != nil {
				return err
			}
		}
	}
}

// Repeat repeats once each report that the chat has not taken.
func (s *PromptStore) Repeat() error {
	var errs []error
	for _, key := range s.keys() {
		errs = append(errs, s.reportNow(key))
	}
	return errors.Join(errs...)
}

func (s *PromptStore) keys() (keys []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.unreported {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func (s *PromptStore) at(failpoint string) {
	if s.Failpoint != nil {
		s.Failpoint(failpoint)
	}
}
