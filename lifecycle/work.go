package lifecycle

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"github.com/google/uuid"

	"ccbot/internal/logkey"
	"ccbot/internal/session"
	"ccbot/lifecycle/dialog"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/typing"
	"ccbot/port/news"
	"ccbot/tmux"
)

// core holds the parts of a Service.
type core struct {
	Config
	*base
	*records
	deps    Deps
	running atomic.Bool // Run takes steps
}

// work is the set of possible actions in one turn of a session's worker, by concern.
type work struct {
	*turn
	term      *typing.Terminal
	records   *records
	prompts   *typing.Session
	ender     *ending.Session
	closing   *closing
	writers   *writers
	opening   *opening
	adoption  *adoption
	switching *dialog.Switching
	report    *reporter
}

func (k *core) work(r *session.Record, save func() error) *work {
	m := k.deps
	t, term := &turn{base: k.base, r: r, save: save}, k.terminalOf(r)
	w := &work{turn: t, term: term, records: k.records}
	typed := typing.Turn{Record: r, Save: save, Follow: t.saveAndFollow, At: k.at, Wake: func() { k.agenda.wake(r.ID) },
		Notify: func(ctx context.Context, n news.News) error { return k.notify(ctx, *r, n) }}
	w.prompts, w.switching = k.deps.Typist.Of(typed, term), dialog.SwitchingOf(typed, k.Observer, term)
	w.ender = k.deps.Ender.Of(r, save, func() {
		t.at("below-recorded")
		if len(r.Descendants) > 0 {
			t.agenda.wake(r.ID) // a step ends them, whether this end succeeds or not
		}
	})
	w.closing = &closing{turn: t, term: term, prompts: w.prompts, ender: w.ender,
		tmuxLost: k.deps.Callbacks.Lost, lastThere: k.LastThere}
	w.writers = &writers{turn: t, ender: w.ender}
	w.opening = &opening{turn: t, Config: k.Config, windows: m.Windows, Launches: m.Launches, closing: w.closing, writers: w.writers}
	w.adoption = &adoption{turn: t, term: term, records: k.records, prompts: w.prompts, closing: w.closing,
		writers: w.writers, host: k.Host}
	w.report = &reporter{turn: t, view: &term.View, attach: k.attach}
	return w
}

// do runs fn on the session's worker, and reports changes of the queue. A panic in fn becomes the
// error of that session: the other sessions, and the bot, continue.
func (k *core) do(ctx context.Context, id uuid.UUID, fn func(w *work) error) error {
	return k.Store.Do(ctx, id, func(r *session.Record, save func() error) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("session %s: panic: %v\n%s", id, p, debug.Stack())
			}
		}()
		w, before := k.work(r, save), slices.Clone(r.Prompts)
		err = fn(w)
		if w.prompts.Reworded || !slices.Equal(before, r.Prompts) {
			if err := w.notify(ctx, *w.r, news.Requeued{}); err != nil { // the queue stays as it is now
				w.Log.Warn("queue_not_told", logkey.SessionID, w.r.ID.String(), logkey.Error, err)
			}
		}
		return err
	})
}

// change is like do, and requests a step afterwards, which also completes a failed change.
func (k *core) change(ctx context.Context, id uuid.UUID, fn func(w *work) error) error {
	defer k.agenda.wake(id)
	return k.do(ctx, id, fn)
}

// ask is change for what a person asks for now. If the session's transcript is left unread, or if
// tmux does not answer, nothing is begun or saved, and the person is not kept waiting for the
// worker, which may wait for tmux itself.
func (k *core) ask(ctx context.Context, id uuid.UUID, fn func(w *work) error) error {
	if err := k.answers(ctx); err != nil {
		return err
	}
	if r, ok := k.Store.Get(id); ok {
		if err := k.Observer.CheckUnread(r); err != nil {
			return fmt.Errorf("nothing was done: %w", err)
		}
	}
	return k.change(ctx, id, fn)
}

// answers returns view.ErrSilent, or another error, if tmux does not answer.
func (k *core) answers(ctx context.Context) error {
	if err := k.deps.Windows.Answers(ctx); err != nil {
		return fmt.Errorf("nothing was done: %w", err)
	}
	return nil
}

func (k *core) terminalOf(r *session.Record) *typing.Terminal {
	return k.deps.Typist.Terminal(r)
}

func (k *core) attach(r session.Record) string {
	var window tmux.WindowID
	if r.Binding != nil {
		window, _ = tmux.ParseWindowID(r.Binding.Window) // with an invalid id the command attaches to the tmux session as a whole
	}
	return k.deps.Windows.AttachCommand(window, r.Name)
}
