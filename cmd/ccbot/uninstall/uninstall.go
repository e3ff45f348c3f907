package uninstall

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"ccbot/agent/claude/claudesettings"
	"ccbot/cmd/ccbot/environment"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/service"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/host/received"
	"ccbot/internal/pause"
	"ccbot/tmux"
)

// Uninstall is one run.
type Uninstall struct {
	Open        func() (offline.View, error) // with the records as they are at that moment
	Service     *service.Service
	Settings    claudesettings.SettingsFile
	Completions []Completion
	Environ     []string
	Programs    []string // which stay

	// End ends a session, and returns the receipt.
	End func(ctx context.Context, s Session) (receipt string, err error)
	// Stop makes the running bot end, and waits for that.
	Stop func(ctx context.Context) error
	// Unhook takes the hooks out of Settings.
	Unhook func() error
	// Lock takes the lock of the state folder. No bot runs as long as it is held.
	Lock func(ctx context.Context) (io.Closer, error)
	// Ask asks a person.
	Ask func(ctx context.Context, question string) (yes bool, err error)
	Out io.Writer
}

// errStays is returned if a step is left.
var errStays = errors.New("not all of ccbot is removed: what stays is named above; `ccbot uninstall` again continues")

// Run lists what there is, then asks for each step and takes it. It returns an error if a step is
// left.
func (u Uninstall) Run(ctx context.Context) error {
	w, err := u.look(ctx)
	if err != nil {
		return err
	}
	u.list(w)
	var held io.Closer
	for _, do := range order {
		if held == nil && do > StopBot && do != RemoveCompletions && mayTouch(w) {
			if held, err = u.Lock(ctx); err != nil {
				return err
			}
			defer held.Close()
			// as nothing but this program changes it from now on
			if w, err = u.look(ctx); err != nil {
				return err
			}
		}
		took, err := u.step(ctx, do, w)
		if err == nil && took {
			w, err = u.look(ctx)
		}
		if err != nil {
			return err
		}
	}
	return u.report(w)
}

// mayTouch reports whether a step for which the lock is needed may be taken.
func mayTouch(w World) bool {
	return len(w.Known) > 0 && slices.ContainsFunc(Plan(w), func(s Step) bool {
		return s.Do > StopBot && s.Do != RemoveCompletions && s.Kept == ""
	})
}

// step asks for one step, if there is something to do, and takes it.
func (u Uninstall) step(ctx context.Context, do Do, w World) (took bool, err error) {
	steps := Plan(w)
	at := slices.IndexFunc(steps, func(s Step) bool { return s.Do == do })
	if at < 0 || steps[at].Kept != "" {
		return false, nil
	}
	for _, line := range steps[at].What {
		u.printLine("  %s", line)
	}
	yes, err := u.Ask(ctx, steps[at].Question)
	if err != nil || !yes {
		return false, err
	}
	return true, u.execute(ctx, do, w)
}

func (u Uninstall) printLine(format string, args ...any) { fmt.Fprintf(u.Out, format+"\n", args...) }

// list prints what there is.
func (u Uninstall) list(w World) {
	steps := Plan(w)
	if len(steps) > 0 {
		u.printLine("There is:")
	}
	for _, s := range steps {
		for _, line := range s.What {
			u.printLine("  %s", line)
		}
	}
	if len(w.Known) > 0 {
		alive, unknown := w.living()
		u.printLine("Agents that live: %d, that may live: %d; %s.", alive, unknown, w.unfinished())
	}
}

// report prints what stays, and the reason.
func (u Uninstall) report(w World) error {
	steps := Plan(w)
	for _, s := range steps {
		for _, line := range s.What {
			u.printLine("stays: %s%s", line, terminal.Words(" (", s.Kept, ")"))
		}
	}
	for _, line := range w.Others {
		u.printLine("stays: %s", line)
	}
	if len(steps) > 0 {
		return errStays
	}
	for _, path := range u.Programs {
		u.printLine("Delete by hand: %s", terminal.Printable(path))
	}
	u.printLine("Nothing else of ccbot is left here. @BotFather deletes the bot, or revokes its token.")
	return nil
}

// execute carries out a step.
func (u Uninstall) execute(ctx context.Context, do Do, w World) error {
	switch do {
	case EndAgents:
		return u.endAgents(ctx, w)
	case StopBot:
		return u.stopBot(ctx, w)
	case RemoveHooks:
		return u.Unhook()
	case CloseTmux:
		return u.closeTmux(ctx, w)
	case ClearInboxes:
		return u.clearInboxes(ctx)
	case RemoveCompletions:
		return u.removeCompletions()
	}
	return statefolder.Remove(w.Dir)
}

// endAgents ends each session. An error is printed, and does not keep the other sessions from being
// ended: Plan decides what may follow.
func (u Uninstall) endAgents(ctx context.Context, w World) error {
	for _, s := range w.Sessions {
		receipt, err := u.End(ctx, s)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			u.printLine("%s: %s", terminal.Printable(s.Name), terminal.Text(terminal.Plain(err)))
			continue
		}
		u.printLine("%s", terminal.Text(receipt))
	}
	return nil
}

func (u Uninstall) stopBot(ctx context.Context, w World) error {
	if w.Unit != "" {
		if err := u.Service.Uninstall(ctx, false); err != nil {
			return fmt.Errorf("ccbot service uninstall: %w", err)
		}
	}
	return u.Stop(ctx)
}

// closeTmux closes the panes that ccbot has made for no session, and has the control client's
// session end.
func (u Uninstall) closeTmux(ctx context.Context, w World) error {
	d, err := u.Open()
	if err != nil {
		return err
	}
	instance, err := statefolder.ReadInstance(d.Dir)
	if err != nil {
		return err
	}
	client, err := tmux.New(tmux.Config{Socket: d.TmuxSocket, Session: d.TmuxSession, Instance: instance,
		Env: environment.Server(u.Environ), Log: slog.New(slog.DiscardHandler), Start: offline.StartOf(d.Table)})
	if err != nil {
		return offline.TmuxError(d.Config, err)
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	g, connected := errgroup.WithContext(running)
	g.Go(func() error { return client.Run(connected) })
	g.Go(func() error {
		defer stop()
		for _, p := range w.Sleepers {
			if err := client.ClosePane(connected, tmux.Guard{Pane: p.ID, PID: p.PID}); err != nil {
				return err
			}
		}
		return client.Leave(connected)
	})
	if err := g.Wait(); err != nil {
		return offline.TmuxError(d.Config, err)
	}
	// the server ends the session a moment after the client has gone, unless a person shows it
	for range leaveTries {
		there := slices.ContainsFunc(d.Tmux(ctx).All, func(p tmux.Pane) bool { return tmux.ControlledBy(p.Session) == instance })
		if !there || pause.For(ctx, leaveInterval) != nil {
			break
		}
	}
	return ctx.Err()
}

// The number of looks at the server after Leave, and the pause between them.
const (
	leaveTries    = 50
	leaveInterval = 100 * time.Millisecond
)

func (u Uninstall) clearInboxes(ctx context.Context) error {
	d, err := u.Open()
	if err != nil {
		return err
	}
	seen, _, err := d.Survey(ctx)
	if err != nil {
		return err
	}
	store, err := received.Open(filepath.Join(d.Dir, "received"), time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return store.Clear(dirsOf(seen))
}

func (u Uninstall) removeCompletions() error {
	for _, c := range u.Completions {
		if own, _ := c.isOwn(); !own {
			continue
		}
		if err := os.Remove(c.Path); err != nil {
			return err
		}
	}
	return nil
}
