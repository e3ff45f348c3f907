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

func (c *core) work(ctx context.Context, r *session.Record, write func() error) *work {
	m := c.deps
	t, term := &turn{base: c.base, r: r, write: write}, c.terminalOf(r)
	t.save = func() error { return t.saveNews(ctx) }
	w := &work{turn: t, term: term, records: c.records}
	typed := typing.Turn{Record: r, Save: t.save, Keep: func() { c.Store.Keep(*r) }, Follow: t.saveAndFollow, At: c.at, Wake: func() { c.agenda.wake(r.ID) }, Notify: t.notify}
	w.prompts, w.switching = c.deps.Typist.Of(typed, term), dialog.SwitchingOf(typed, c.Observer, term)
	w.ender = c.deps.Ender.Of(r, t.save, func() {
		t.at("below-recorded")
		if len(r.Descendants) > 0 {
			t.agenda.wake(r.ID) // a step ends them, whether this end succeeds or not
		}
	})
	w.closing = &closing{turn: t, term: term, prompts: w.prompts, ender: w.ender,
		tmuxLost: c.deps.Callbacks.Lost, lastThere: c.LastThere}
	w.writers = &writers{turn: t, ender: w.ender}
	w.opening = &opening{turn: t, Config: c.Config, windows: m.Windows, closing: w.closing, writers: w.writers}
	w.adoption = &adoption{turn: t, term: term, records: c.records, prompts: w.prompts, closing: w.closing,
		writers: w.writers, host: c.Host}
	w.report = &reporter{turn: t, view: &term.View, attach: c.attach}
	return w
}

// do runs fn on the session's worker, and reports changes of the queue. A panic in fn becomes the
// error of that session: the other sessions, and the bot, continue.
func (c *core) do(ctx context.Context, id uuid.UUID, fn func(w *work) error) error {
	return c.Store.Do(ctx, id, func(r *session.Record, save func() error) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("session %s: panic: %v\n%s", id, p, debug.Stack())
			}
		}()
		w, before := c.work(ctx, r, save), slices.Clone(r.Prompts)
		err = fn(w)
		if w.prompts.Reworded || !slices.Equal(before, r.Prompts) {
			if err := w.notify(ctx, news.Requeued{}); err != nil { // the queue stays as it is now
				w.Log.Warn("queue_not_told", logkey.SessionID, w.r.ID.String(), logkey.Error, err)
			}
		}
		return err
	})
}

// change is like do, and requests a step afterwards, which also completes a failed change.
func (c *core) change(ctx context.Context, id uuid.UUID, fn func(w *work) error) error {
	defer c.agenda.wake(id)
	return c.do(ctx, id, fn)
}

// ask is change for what a person asks for now. If the session's transcript is left unread, or if
// tmux does not answer, nothing is begun or saved, and the person is not kept waiting for the
// worker, which may wait for tmux itself.
func (c *core) ask(ctx context.Context, id uuid.UUID, fn func(w *work) error) error {
	if err := c.answers(ctx); err != nil {
		return err
	}
	if r, ok := c.Store.Get(id); ok {
		if err := c.Observer.CheckUnread(r); err != nil {
			return fmt.Errorf("nothing was done: %w", err)
		}
	}
	return c.change(ctx, id, fn)
}

// answers returns view.ErrSilent, or another error, if tmux does not answer.
func (c *core) answers(ctx context.Context) error {
	if err := c.deps.Windows.Answers(ctx); err != nil {
		return fmt.Errorf("nothing was done: %w", err)
	}
	return nil
}

func (c *core) terminalOf(r *session.Record) *typing.Terminal {
	return c.deps.Typist.Terminal(r)
}

func (c *core) attach(r session.Record) string {
	var window tmux.WindowID
	if r.Binding != nil {
		window, _ = tmux.ParseWindowID(r.Binding.Window) // with an invalid id the command attaches to the tmux session as a whole
	}
	return c.deps.Windows.AttachCommand(window, r.Name)
}
