package lifecycle

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"github.com/google/uuid"

	"ccbot/bot/port/news"
	"ccbot/internal/logkey"
	"ccbot/internal/session"
	"ccbot/tmux"
)

// kit is what a Service is made of. It gives each part of a work only what that part needs.
type kit struct {
	Config
	*base
	*records
	deps    Deps
	running atomic.Bool // Run takes steps
}

// work is what can be done in one turn of a session's worker, by concern.
type work struct {
	*turn
	term      *terminal
	windows   Windows
	records   *records
	prompts   *delivery
	ender     *ender
	closing   *closing
	writers   *writers
	opening   *opening
	handover  *handover
	switching *switching
	report    *reporter
}

func (k *kit) work(r *session.Record, save func() error) *work {
	m := k.deps.Machine
	t, term := &turn{base: k.base, r: r, save: save}, k.terminalOf(r)
	w := &work{turn: t, term: term, windows: m.Tmux, records: k.records}
	w.prompts = &delivery{turn: t, term: term, Prompts: k.deps.Prompts, Launches: m.Launches}
	w.ender = &ender{turn: t, Processes: m.Processes, outcome: k.deps.Hears.Outcome, patience: k.KillGrace}
	w.closing = &closing{turn: t, term: term, windows: m.Tmux, prompts: w.prompts, ender: w.ender, hears: k.deps.Hears.Lost, lastThere: k.LastThere}
	w.writers = &writers{turn: t, ender: w.ender}
	w.opening = &opening{turn: t, Config: k.Config, windows: m.Tmux, Launches: m.Launches, closing: w.closing, writers: w.writers}
	w.handover = &handover{turn: t, term: term, records: k.records, prompts: w.prompts, closing: w.closing, writers: w.writers, host: k.Host, take: k.take}
	w.switching = &switching{turn: t, term: term}
	w.report = &reporter{turn: t, term: term, attach: k.attach}
	return w
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
		w, before := k.work(r, save), slices.Clone(r.Prompts)
		err = fn(w)
		if w.prompts.reworded || !slices.Equal(before, r.Prompts) {
			if err := w.tell(ctx, *w.r, news.Requeued{}); err != nil { // the queue stays as it is now
				w.Log.Warn("queue_not_told", logkey.SessionID, w.r.ID.String(), logkey.Error, err.Error())
			}
		}
		return err
	})
}

func (k *kit) terminalOf(r *session.Record) *terminal {
	return &terminal{r: r, o: k.Observer, keys: k.deps.Machine.Tmux}
}

func (k *kit) attach(r session.Record) string {
	var window tmux.WindowID
	if r.Binding != nil {
		window, _ = tmux.ParseWindowID(r.Binding.Window) // with an invalid id the command attaches to the tmux session as a whole
	}
	return k.deps.Machine.Tmux.AttachCommand(window, r.Name)
}
