package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/port/modes"
	"ccbot/bot/port/news"
	"ccbot/internal/logkey"
	"ccbot/internal/session"
)

// work is one turn of a session's worker: the record, its save, and the look at the world that the
// turn acts on.
type work struct {
	*kit
	r    *session.Record
	save func() error
	term terminal
	// again is when to look again at the earliest, whatever was decided. Only unheard may ask for
	// an earlier look.
	again time.Duration
	// noted guards r and save while several processes are being ended at the same time.
	noted sync.Mutex
	// reworded says that a prompt of the queue has another text.
	reworded bool
	// want is what a person wants the agent of a new session to run with.
	want modes.Wish
	// retried says that no person asked for this archive: a cleanup that failed is tried again.
	retried bool
}

func (k *kit) terminalOf(r *session.Record) terminal {
	return terminal{r: r, o: k.Observer, keys: k.Tmux}
}

// do runs fn on the session's worker, and reports what has become of the queue. A panic in fn becomes
// the error of that session: the other sessions, and the bot, continue.
func (k *kit) do(ctx context.Context, id uuid.UUID, fn func(w *work) error) error {
	return k.Store.Do(ctx, id, func(r *session.Record, save func() error) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("session %s: panic: %v\n%s", id, p, debug.Stack())
			}
		}()
		w, before := &work{kit: k, r: r, save: save, term: k.terminalOf(r)}, slices.Clone(r.Prompts)
		err = fn(w)
		if w.reworded || !slices.Equal(before, r.Prompts) {
			if err := w.tell(ctx, *w.r, news.Requeued{}); err != nil { // the queue stays as it is now
				w.Log.Warn("queue_not_told", logkey.SessionID, w.r.ID.String(), logkey.Error, err.Error())
			}
		}
		return err
	})
}

// recall returns what is remembered of the session.
func (w *work) recall() memory { return w.memories.recall(w.r.ID) }

func (w *work) remember(change func(*memory)) { w.memories.remember(w.r.ID, change) }

// step looks, decides and acts, once, and says when to step again.
func (s *Service) step(ctx context.Context, id uuid.UUID) (again time.Duration, err error) {
	r, ok := s.kit.Store.Get(id)
	if !ok || !stepped(r) {
		return 0, nil
	}
	if target, half := s.kit.halfMoved(r); half {
		if err := s.TidyTransfer(ctx, target); err != nil {
			return 0, err
		}
	}
	err = s.kit.do(ctx, id, func(w *work) error {
		if _, half := s.kit.halfMoved(*w.r); half { // it has just become so: the next step finishes the transfer
			again = soon
			return nil
		}
		head, err := w.head()
		if err != nil {
			return err
		}
		if unbound(*w.r) {
			err := w.findWindow(ctx)
			again = w.again
			return err
		}
		if err := look(ctx, w, head); err != nil {
			return err
		}
		d := decide(*w.r, w.term.View, head)
		again = d.Again
		s.kit.Log.Debug("session_step", logkey.SessionID, id.String(), logkey.State, string(w.r.State), logkey.Phase, string(w.term.Phase()),
			logkey.Agent, w.term.Agent.String(), logkey.Pane, int(w.term.Fate), logkey.Act, int(d.Act), logkey.Why, string(d.Why), logkey.Again, d.Again)
		gone, err := w.noteGone(ctx)
		err = errors.Join(err, w.act(ctx, d, head))
		var told time.Duration
		if err == nil { // after an error the record may be half changed, and must not be saved
			told, err = w.noteState(ctx) // it comes last, because typing must not wait for it
		}
		again = sooner(max(sooner(sooner(again, gone), told), w.again), unheard(w))
		return err
	})
	return again, err
}

// sooner returns the shorter of two waits; 0 is no wait.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// look looks at the world, for a decision about the head of the queue.
func look(ctx context.Context, w *work, head *Prompt) error {
	w.term.look(ctx)
	w.watchAgent(*w.r)
	if err := errors.Join(w.keepUp(ctx), nameWindow(ctx, w)); err != nil {
		return err
	}
	if head != nil {
		// The time before its turn, in which a prompt waited for other prompts or for the session to come back,
		// is not worth a report.
		w.remember(func(m *memory) {
			if m.prompt.head != head.Key {
				m.prompt.head, m.prompt.headAt = head.Key, w.Now()
			}
			head.Since = m.prompt.headAt
		})
	}
	w.noteOpen()
	v := &w.term.View
	w.remember(func(m *memory) { // since when this process has seen the screen unchanged
		now := still{idle: v.boxFree(), box: v.Screen.Box, by: v.Presence.UpdatedAt}
		if m.box.still != now || m.box.stillAt.After(v.Now) {
			m.box.still, m.box.stillAt = now, v.Now
		}
		v.Still = v.Now.Sub(m.box.stillAt)
	})
	return nil
}

// unbound says whether this is a launch whose window is not known.
func unbound(r session.Record) bool { return r.Binding == nil && r.State.Launching() }

// stepped says whether there may be something left that a step would do for the session.
func stepped(r session.Record) bool {
	return !r.State.Over() || len(r.Below) > 0
}

// act carries out a decision.
func (w *work) act(ctx context.Context, d decision, head *Prompt) error {
	switch d.Act {
	case actReady:
		return w.ready(ctx)
	case actNotReport:
		return w.tellSilent(ctx)
	case actDialog:
		return errors.Join(w.tellDialog(ctx), w.seekBehind(ctx, head), w.hold(ctx, news.HeldDialog, head))
	case actHold:
		return w.hold(ctx, d.Why, head)
	case actType:
		return w.typePrompt(ctx, *head)
	case actClear:
		return w.clearOwnText(ctx, *head)
	case actProven:
		return w.proven(ctx, *head)
	case actSettle:
		return settleTyped(ctx, w, *head)
	case actUnproven:
		return w.settlePrompt(ctx, *head)
	case actConclude:
		return w.conclude(ctx)
	case actLost:
		return w.lost(ctx)
	case actFinishStop:
		return w.stop(ctx, &Receipt{})
	case actRetry:
		w.retried = true
		return w.archive(ctx, w.r.Final, "another try to end what is left", &Receipt{})
	case actGrant:
		return grant(ctx, w)
	case actTidy:
		return w.tidy(ctx)
	}
	return nil
}

// ownPrompt reads a prompt of the session's queue. ErrNoPrompt means that the prompt no longer
// exists, or belongs to another session by now.
func ownPrompt(w *work, key string) (Prompt, error) {
	p, err := w.Prompts.Prompt(key)
	if err == nil && p.Session != uuid.Nil && p.Session != w.r.ID {
		err = fmt.Errorf("prompt %s is that of session %s: %w", key, p.Session, ErrNoPrompt)
	}
	return p, err
}

// head returns the prompt whose turn it is: the first one about which no person has to decide. Keys
// whose prompt is finished are removed from the queue.
func (w *work) head() (*Prompt, error) {
	for _, key := range slices.Clone(w.r.Prompts) {
		p, err := ownPrompt(w, key)
		if errors.Is(err, fs.ErrNotExist) {
			if err := w.dequeue(key); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil { // an unreadable prompt must hold up neither the session nor the prompts behind it
			w.Log.Error("prompt_unreadable", logkey.Key, key, logkey.Error, err.Error())
			continue
		}
		if p.State != Unproven {
			return &p, nil
		}
	}
	return nil, nil
}

func (w *work) dequeue(key string) error {
	w.r.Prompts = slices.DeleteFunc(w.r.Prompts, func(k string) bool { return k == key })
	return w.save()
}

// ready makes the session usable: from now on prompts are typed. An agent that is in another directory than
// was asked for is ended instead.
func (w *work) ready(ctx context.Context) error {
	if !inDir(w.term.Pane.Path, w.r.Dir) {
		why := fmt.Sprintf("the agent is in %q instead of %q", w.term.Pane.Path, w.r.Dir)
		if err := w.tell(ctx, *w.r, news.Failed{Screen: w.term.Screen.Text}); err != nil {
			return err
		}
		if err := w.intend(session.Archived, why, w.moment()); err != nil {
			return err
		}
		return w.stop(ctx, &Receipt{})
	}
	why := "reported in, idle, empty prompt box"
	if w.r.ReportsAt.IsZero() {
		why = "idle with an empty prompt box; no SessionStart was seen"
	}
	w.r.ReadyAt = w.Now().UTC()
	w.r.Binding.Command = w.term.Pane.Command
	w.bindProgram() // when it was bound, the process may still have been running tmux or env
	return w.become(ctx, session.Running, ruleReady, why, news.Ready{})
}

// The rules behind the changes of a session's state, as the record's history names them.
const (
	ruleStart   session.Rule = "start"   // a new session was asked for
	ruleReady   session.Rule = "ready"   // the agent can be spoken to
	ruleResume  session.Rule = "resume"  // a person asked to have a session back
	ruleAdopt   session.Rule = "adopt"   // a window that a person opened became a session's
	ruleStop    session.Rule = "stop"    // the session is to end; the evidence says who wants it
	ruleStopped session.Rule = "stopped" // the result of an archive
	ruleEnded   session.Rule = "ended"   // the agent ended by itself
	ruleLost    session.Rule = "lost"    // the pane went away without ccbot
	ruleFailed  session.Rule = "failed"  // a launch never became ready
)

// become notes the next state, reports the news about it, if there is any, and saves.
func (w *work) become(ctx context.Context, next session.State, rule session.Rule, why string, told news.News) error {
	if err := w.r.Become(next, w.Now(), rule, why); err != nil {
		return err
	}
	if told != nil {
		if err := w.tell(ctx, *w.r, told); err != nil {
			return err
		}
	}
	return w.saveAndFollow(ctx)
}

// tell reports to News what happened to a session.
func (k *kit) tell(ctx context.Context, r session.Record, n news.News) error {
	if err := k.News.SessionNews(ctx, r.Clone(), n); err != nil {
		return fmt.Errorf("tell %T of session %s: %w", n, r.ID, err)
	}
	return nil
}

// tellSilent reports that the agent has not reported in, once per launch and run of ccbot.
func (w *work) tellSilent(ctx context.Context) error {
	if w.recall().unready {
		return nil
	}
	n := news.NotReporting{Waited: StartNotice, Terminal: w.shown(w.term.Screen.Text)}
	if err := w.tell(ctx, *w.r, n); err != nil {
		return err
	}
	w.remember(func(m *memory) { m.unready = true })
	return nil
}

// saveAndFollow saves, and then reports that the transcript has to be read again: there is another
// transcript, or the session is over and the rest of the transcript is the last. Other news is
// reported before the save; this news is derived from the record, so it comes after.
func (w *work) saveAndFollow(ctx context.Context) error {
	if err := w.save(); err != nil {
		return err
	}
	return w.tell(ctx, *w.r, news.Transcript{})
}

// hold reports why the head prompt waits, once per prompt and reason. When the agent waits for a
// person's answer, all prompts wait behind it, and this is reported for each of them: nothing else
// moves the queue. A head whose Enter was pressed does not wait: its prompt may have led to the
// question.
func (w *work) hold(ctx context.Context, why news.Wait, head *Prompt) error {
	if head == nil {
		return nil
	}
	var all []Prompt
	if head.waits() {
		all = append(all, *head)
	}
	if why == news.HeldDialog {
		for _, key := range w.r.Prompts { // one that cannot be read is logged when its turn comes
			if p, err := ownPrompt(w, key); err == nil && p.State == Held && key != head.Key {
				all = append(all, p)
			}
		}
	}
	now := doing(w.term.View, w.r.Progress.Failed)
	for _, p := range all {
		if slices.Contains(p.Told, why) {
			continue
		}
		if err := w.tell(ctx, *w.r, news.Held{Why: why, Prompt: p.shown(), Now: now}); err != nil {
			return err
		}
		p.Told = append(slices.Clone(p.Told), why)
		if err := w.Prompts.SavePrompt(p); err != nil {
			return err
		}
	}
	return nil
}

// proven finishes a prompt that the agent has taken. The prompt is finished before its key leaves
// the queue: a crash in between leaves a key without a prompt, which is harmless.
func (w *work) proven(ctx context.Context, p Prompt) error {
	w.remember(func(m *memory) { m.prompt.last = p })
	if w.r.Unfinished() != nil { // the work that was interrupted goes on
		w.r.Interruption.Followed = true
		if err := w.save(); err != nil {
			return err
		}
	}
	if err := w.tell(ctx, *w.r, news.Delivered{Prompt: p.shown()}); err != nil {
		return err
	}
	if err := w.Prompts.FinishPrompt(p.Key); err != nil {
		return err
	}
	w.at("prompt-finished")
	w.agenda.wake(w.r.ID)
	return w.dequeue(p.Key)
}

// unproven hands a prompt to the person: it is never typed again unless the person asks for it. why
// is the doubt that prevents ccbot from deciding; empty means that no proof came.
func (w *work) unproven(ctx context.Context, p Prompt, why string) error {
	w.Log.Warn("prompt_unproven", logkey.SessionID, w.r.ID.String(), logkey.Key, p.Key, logkey.Why, cmp.Or(why, doubtNone))
	if err := w.tell(ctx, *w.r, news.Unproven{Prompt: p.shown(), InBox: w.term.holds(ctx, p)}); err != nil {
		return err
	}
	p.State = Unproven
	w.agenda.wake(w.r.ID)
	return w.Prompts.SavePrompt(p)
}
