package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/google/uuid"

	"ccbot/bot/port/news"
	"ccbot/internal/logkey"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

// bequeath gives a new record what this one had, for as long as it is its own:
// it is written once, with everything.
func (w *work) bequeath(t *session.Record, agent process.Identity) {
	w.keepUsage() // while it is known whose it is
	from := w.r.Clone()
	t.TookOver = from.ID
	t.Name, t.Dir, t.Conversation, t.Owner = from.Name, from.Dir, from.Conversation, from.Owner
	t.EarlierClaudeIDs, t.ForkOf = from.EarlierClaudeIDs, from.ForkOf
	t.Prompts = from.Prompts
	t.Launch, t.Progress, t.Usage, t.GitStart, t.GitNow = from.Launch, from.Progress, from.Usage, from.GitStart, from.GitNow
	t.Seconds = slices.DeleteFunc(w.Evidence.Living(from.Seconds), func(id process.Identity) bool { return id == agent })
}

// create puts a session for an adopted agent on disk and hands over to it. From
// then on it lives, whatever comes in between.
func (w *work) create(ctx context.Context, t *session.Record, asked bool) (session.Record, error) {
	steps := w.agenda.holdSteps(t.ID) // nothing is typed while the prompts are still another's
	defer steps()
	if err := w.Store.Create(*t); err != nil {
		return session.Record{}, err
	}
	r, _ := w.Store.Get(t.ID)
	w.at("target-recorded")
	w.watchAgent(r)
	w.agenda.wake(r.ID)
	if r.TookOver != uuid.Nil {
		if err := w.handOver(ctx, r, asked); err != nil {
			return r, err
		}
	}
	return r, w.tell(ctx, r, news.Transcript{})
}

// handOver hands what this session still has over to its successor and closes it:
// the prompts first, so that a crash at any point leaves each with one of the two.
func (w *work) handOver(ctx context.Context, to session.Record, asked bool) error {
	var moved []string
	for _, key := range w.r.Prompts {
		p, err := w.Prompts.Prompt(key)
		if err == nil && p.Session != uuid.Nil && p.Session != w.r.ID && p.Session != to.ID {
			continue // it is queued elsewhere
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			w.Log.Error("prompt_unreadable", logkey.Key, key, logkey.Error, err.Error())
			moved = append(moved, key) // it must not keep the session in two records
			continue
		}
		err = w.Prompts.MovePrompt(key, to.ID)
		if errors.Is(err, fs.ErrNotExist) {
			continue // finished
		}
		if err != nil {
			return fmt.Errorf("transfer session %s: %w", w.r.ID, err)
		}
		moved = append(moved, key)
	}
	if err := w.take(ctx, to.ID, moved); err != nil {
		return fmt.Errorf("transfer session %s: %w", w.r.ID, err)
	}
	w.at("prompts-moved")
	if err := w.closeMoved(ctx, to); err != nil {
		return err
	}
	if err := w.tell(ctx, to, news.Transferred{From: w.r.ID, Asked: asked}); err != nil {
		return err
	}
	if err := w.save(); err != nil {
		return err
	}
	w.at("source-closed")
	return w.tell(ctx, *w.r, news.Transcript{})
}

// take puts prompts at the end of another session's queue that are not in it: they
// were accepted after its record was written.
func (k *kit) take(ctx context.Context, id uuid.UUID, keys []string) error {
	r, ok := k.Store.Get(id)
	if !ok || !slices.ContainsFunc(keys, func(key string) bool { return !slices.Contains(r.Prompts, key) }) {
		return nil
	}
	defer k.agenda.wake(id)
	return k.do(ctx, id, func(w *work) error { return w.enqueue(keys...) })
}

// closeMoved closes the record in memory. Its dead pane, if there is one, is not
// needed any more.
func (w *work) closeMoved(ctx context.Context, to session.Record) error {
	rule, why := madeBy(to)
	why = fmt.Sprintf("session %s goes on with its conversation: %s", to.ID, why)
	if w.r.State == session.Running {
		if w.view = w.Observer.View(ctx, *w.r); w.view.Fate == PaneDead {
			if err := w.closeOwn(ctx); err != nil {
				w.Log.Info("window_not_closed", logkey.SessionID, w.r.ID.String(), logkey.Error, err.Error())
			}
		}
		if err := w.r.Become(session.Lost, w.Now(), rule, why); err != nil {
			return err
		}
		w.over(w.endSeen())
	} else {
		w.r.Note(w.Now(), rule, why)
	}
	w.r.Closed, w.r.Unreported = session.ClosedTransferred, false
	w.r.Binding, w.r.Cleanup, w.r.Haunted = nil, nil, false
	w.r.Prompts, w.r.Cursors, w.r.Seconds = nil, nil, nil
	return nil
}

// madeBy is what made a record, as its history tells.
func madeBy(r session.Record) (session.Rule, string) {
	for _, c := range r.History {
		if c.From == "" {
			return c.Rule, c.Why
		}
	}
	return ruleAdopt, "its record says so"
}

// successor finds the session that goes on with another one's conversation, or
// with that of its successor.
func (k *kit) successor(id uuid.UUID) (last session.Record, found bool) {
	return session.Successor(k.Store.Shared(), id)
}

// resumable says why a session cannot be brought back.
func (w *work) resumable() error {
	if to, moved := w.successor(w.r.ID); moved {
		return &MovedError{To: to.ID}
	}
	if !w.r.Resumable() && !w.r.Interrupted() {
		return &StateError{State: w.r.State, Want: "resumed"}
	}
	return nil
}

// reopen forgets what only concerns a session that is over.
func (w *work) reopen() { w.r.Closed, w.r.Unreported, w.r.Cleanup = "", false, nil }

// TidyTransfer finishes what an Adopt left undone: the record that the target
// took over from is closed, its prompts are the target's. Once more is nothing.
func (s *Service) TidyTransfer(ctx context.Context, target uuid.UUID) error {
	t, ok := s.kit.Store.Get(target)
	if !ok {
		return fmt.Errorf("tidy the transfer to session %s: %w", target, session.ErrNotFound)
	}
	if _, ok := s.kit.source(t); !ok {
		return nil // nobody's, or it was purged
	}
	err := s.do(ctx, t.TookOver, func(w *work) error { return w.finishTransfer(ctx, t) })
	if errors.Is(err, session.ErrNotFound) {
		return nil // a moment ago
	}
	return err
}

// source is the record that another one took over from. A file that was edited
// may name itself, or a ring: there nobody took over.
func (k *kit) source(t session.Record) (from session.Record, ok bool) {
	if t.TookOver == uuid.Nil {
		return session.Record{}, false
	}
	from, ok = k.Store.Get(t.TookOver)
	var seen []uuid.UUID
	for at, there := from, ok; there && !slices.Contains(seen, at.ID); at, there = k.Store.Get(at.TookOver) {
		if at.ID == t.ID {
			return session.Record{}, false
		}
		seen = append(seen, at.ID)
	}
	return from, ok
}

// halfMoved finds the transfer that has this record as its target or its source and
// that an error has cut short. Until it is finished each prompt may be the one's or
// the other's, so neither does anything else.
func (k *kit) halfMoved(r session.Record) (target uuid.UUID, half bool) {
	if from, ok := k.source(r); ok && !from.TransferDone() && !k.goesOn(from) {
		return r.ID, true
	}
	if r.TransferDone() || k.goesOn(r) {
		return uuid.Nil, false
	}
	for _, t := range slices.Backward(k.Store.Shared()) {
		if t.TookOver != r.ID {
			continue
		}
		if _, ok := k.source(t); ok {
			return t.ID, true
		}
	}
	return uuid.Nil, false
}

// goesOn says whether a session is not one that could be handed over: its agent
// lives, or its worker is about to start or to end one.
func (k *kit) goesOn(r session.Record) bool {
	return r.State.Live() && (r.State != session.Running || k.ownAgent(r) == process.Alive)
}

// finishTransfer closes this session for its successor, unless that is done.
func (w *work) finishTransfer(ctx context.Context, to session.Record) error {
	if to.TookOver != w.r.ID || w.r.TransferDone() {
		return nil
	}
	if w.r.State.MayRun(w.ownAgent(*w.r)) {
		return &StateError{State: w.r.State, Want: "closed"}
	}
	return w.handOver(ctx, to, false)
}

// tidyTransfers finishes every transfer that an error has cut short.
func (s *Service) tidyTransfers(ctx context.Context) error {
	var failed []error
	for _, t := range s.kit.Store.Shared() {
		if from, ok := s.kit.source(t); ok && !from.TransferDone() {
			failed = append(failed, s.TidyTransfer(ctx, t.ID))
		}
	}
	return errors.Join(failed...)
}
