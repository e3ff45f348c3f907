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

// bequeath copies to a new record what this session passes on. The new record must be complete,
// because it is written only once, with everything.
func (w *handover) bequeath(t *session.Record, agent process.Identity) {
	w.keepUsage() // while the binding still says to which agent the usage belongs
	from := w.r.Clone()
	t.TookOver = from.ID
	t.Name, t.NamedBy, t.FormerNames = from.Name, from.NamedBy, from.FormerNames
	t.Dir, t.Conversation, t.Owner = from.Dir, from.Conversation, from.Owner
	t.EarlierClaudeIDs, t.ForkOf = from.EarlierClaudeIDs, from.ForkOf
	t.Prompts = from.Prompts
	t.Launch, t.Progress, t.Usage, t.GitStart, t.GitNow = from.Launch, from.Progress, from.Usage, from.GitStart, from.GitNow
	t.Seconds = slices.DeleteFunc(w.Evidence.Living(from.Seconds), func(id process.Identity) bool { return id == agent })
}

// create puts a session for an adopted agent on disk, and hands over to it. From the save on the
// new session exists, even if a crash or an error follows.
func (w *handover) create(ctx context.Context, t *session.Record, asked bool) (session.Record, error) {
	steps := w.agenda.holdSteps(t.ID) // nothing is typed while the prompts still belong to the other session
	defer steps()
	var err error
	if t.TookOver != uuid.Nil {
		err = w.records.Create(*t) // the name is taken over, too
	} else {
		err = w.records.createNamed(*t)
	}
	if err != nil {
		return session.Record{}, err
	}
	r, _ := w.records.Get(t.ID)
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

// handOver hands over to the successor what this session still has, and closes this session. The
// prompts come first, so that after a crash at any point each prompt belongs to exactly one of the
// two.
func (w *handover) handOver(ctx context.Context, to session.Record, asked bool) error {
	var moved []string
	for _, key := range w.r.Prompts {
		p, err := w.prompts.Prompts.Prompt(key)
		if err == nil && p.Session != uuid.Nil && p.Session != w.r.ID && p.Session != to.ID {
			continue // the prompt is in the queue of a third session
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			w.Log.Error("prompt_unreadable", logkey.Key, key, logkey.Error, err.Error())
			moved = append(moved, key) // an unreadable prompt must not prevent the handover
			continue
		}
		err = w.prompts.Prompts.MovePrompt(key, to.ID)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the prompt is finished
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

// take appends prompts to another session's queue if they are missing there: they were accepted
// after the record of that session was written.
func (k *kit) take(ctx context.Context, id uuid.UUID, keys []string) error {
	r, ok := k.Store.Get(id)
	if !ok || !slices.ContainsFunc(keys, func(key string) bool { return !slices.Contains(r.Prompts, key) }) {
		return nil
	}
	defer k.agenda.wake(id)
	return k.do(ctx, id, func(w *work) error { return w.prompts.enqueue(keys...) })
}

// closeMoved closes the record in memory, and the dead pane of the session, if there is one: it is
// no longer needed.
func (w *handover) closeMoved(ctx context.Context, to session.Record) error {
	rule, why := w.records.madeBy(to.ID)
	why = fmt.Sprintf("session %s goes on with its conversation: %s", to.ID, why)
	if w.r.State == session.Running {
		if w.term.look(ctx); w.term.Fate == PaneDead {
			if err := w.closing.closeOwn(ctx); err != nil {
				w.Log.Info("window_not_closed", logkey.SessionID, w.r.ID.String(), logkey.Error, err.Error())
			}
		}
		if err := w.r.Become(session.Lost, w.Now(), rule, why); err != nil {
			return err
		}
		w.closing.over(w.endSeen())
	} else {
		w.r.Note(w.Now(), rule, why)
	}
	w.r.Closed, w.r.Unreported = session.ClosedTransferred, false
	w.r.Binding, w.r.Cleanup, w.r.Haunted = nil, nil, false
	w.r.Prompts, w.r.Cursors, w.r.Seconds = nil, nil, nil
	return nil
}

// TidyTransfer finishes an Adopt that was interrupted: the record that the target took over from is
// closed, and its prompts go to the target. Calling it again does nothing.
func (s *Service) TidyTransfer(ctx context.Context, target uuid.UUID) error {
	return s.kit.tidyTransfer(ctx, target)
}

func (k *kit) tidyTransfer(ctx context.Context, target uuid.UUID) error {
	t, ok := k.Store.Get(target)
	if !ok {
		return fmt.Errorf("tidy the transfer to session %s: %w", target, session.ErrNotFound)
	}
	if _, ok := k.source(t); !ok {
		return nil // the target took over from no session, or that session was purged
	}
	err := k.do(ctx, t.TookOver, func(w *work) error { return w.handover.finishTransfer(ctx, t) })
	if errors.Is(err, session.ErrNotFound) {
		return nil // the record was purged a moment ago
	}
	return err
}

// finishTransfer closes this session for its successor, unless that has been done.
func (w *handover) finishTransfer(ctx context.Context, to session.Record) error {
	if to.TookOver != w.r.ID || w.r.TransferDone() {
		return nil
	}
	if w.r.State.MayRun(w.ownAgent(*w.r)) {
		return &StateError{State: w.r.State, Want: "closed"}
	}
	return w.handOver(ctx, to, false)
}
