package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/uuid"

	coding "ccbot/agent"
	"ccbot/internal/logkey"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/tmux"
)

// opening begins the life of a session's agent: a window, its name and its binding.
type opening struct {
	*turn
	Config
	windows Windows
	closing *closing
	writers *writers
	want    port.ModeChange // the requested mode and model of a new session
}

func (w *opening) start(ctx context.Context) error {
	if len(w.r.Cursors) > 0 { // it continues with a conversation
		if err := w.mend(askFirst); err != nil {
			return err
		}
	}
	spec, err := w.prepare(ctx)
	if err != nil {
		return err
	}
	if len(w.r.Cursors) > 0 {
		_, err = w.writers.alone(ctx)
	} else if found, failed := w.Evidence.Read(ctx, w.r.AgentSessionID); failed != nil {
		err = failed
	} else { // an unreadable transcript is not evidence here: the conversation's id is new
		proven := slices.DeleteFunc(found.Verdicts, func(v process.Verdict) bool { return v.Writer != process.Yes })
		if len(proven) > 0 {
			err = &WriterError{Writers: found.Describe(ctx, *w.r, proven)}
		}
	}
	if err != nil {
		return err
	}
	w.r.GitStart, _ = w.ReadGit(ctx, *w.r) // before the agent can change anything; the binding's save keeps it
	w.r.GitNow = w.r.GitStart
	return w.launch(ctx, spec)
}

// prepare does everything that can fail before anything is made: it ensures that tmux runs, and
// collects all that the window needs.
func (w *opening) prepare(ctx context.Context) (tmux.Spec, error) {
	if err := w.windows.Ensure(ctx); err != nil {
		return tmux.Spec{}, fmt.Errorf("launch: %w", err)
	}
	return w.spec(ctx)
}

// errWindowMayLive says that a launch failed although its window may exist.
var errWindowMayLive = errors.New("the window may have been made")

// launch opens the window of a starting or restoring session and binds it.
func (w *opening) launch(ctx context.Context, spec tmux.Spec) error {
	pane, err := w.windows.NewWindow(ctx, spec)
	if errors.Is(err, tmux.ErrLost) {
		w.agenda.wake(w.r.ID) // a step looks for the window
		return fmt.Errorf("launch: %w: %w", errWindowMayLive, err)
	}
	if err != nil {
		return fmt.Errorf("launch: %w", err)
	}
	w.at("window-made")
	if err := w.bind(ctx, pane); err != nil {
		if left := w.closing.ender.ClosePane(ctx, pane); left != nil {
			err = fmt.Errorf("%w: %w: %w", errWindowMayLive, err, left)
		}
		return err
	}
	w.forget()
	w.at("bound")
	w.watchAgent(w.r.Clone())
	w.agenda.wake(w.r.ID)
	return nil
}

// spec describes the window of a launch.
func (w *opening) spec(ctx context.Context) (tmux.Spec, error) {
	begin, err := w.conversation()
	if err != nil {
		return tmux.Spec{}, fmt.Errorf("launch: look for the transcript: %w", err)
	}
	seen := w.lastSeen(begin)
	by := w.agent()
	launch, program, err := by.Starter.Relaunch(w.r.Launch, *configured(by), coding.Seen{Mode: cmp.Or(string(w.want.Mode), seen.PermissionMode), Chosen: w.want.Mode != "",
		Model: cmp.Or(w.want.Model, seen.RequestedModel), Env: w.Env, Resumes: begin.Resumes || begin.CopyOf != uuid.Nil})
	if err != nil {
		return tmux.Spec{}, err
	}
	hook := ""
	if by.Settings != nil {
		begin.Settings, hook, err = by.Settings.Write(w.r.ID, w.r.Folder(), w.inherited(ctx))
	}
	if err != nil {
		return tmux.Spec{}, fmt.Errorf("launch: %w", err)
	}
	w.r.Launch, w.r.HookDigest = &launch, hook
	env := map[string]string{"CCBOT_LAUNCH": w.r.ID.String(), "CCBOT_DIR": w.StateDir}
	maps.Copy(env, w.Env)
	return tmux.Spec{Name: w.r.Name, Tag: w.Evidence.Tag(w.r.ID), Dir: w.r.Folder(),
		Env: env, Unset: w.Unset, Argv: by.Starter.Argv(program, launch, begin), At: w.at}, nil
}

// inherited returns a function that reads variables with which the agent will start.
func (w *opening) inherited(ctx context.Context) func([]string) (map[string]string, error) {
	return func(names []string) (map[string]string, error) {
		started, err := w.windows.Environment(ctx, names)
		if err == nil {
			maps.Copy(started, w.Env)
		}
		return started, err
	}
}

// conversation returns how the conversation begins. It is resumed if it has a
// transcript, and begun otherwise, because an agent may make the transcript at the first prompt. A
// copy begins with what the original conversation said, if it said anything.
func (w *opening) conversation() (coding.Start, error) {
	begin := coding.Start{Conversation: w.r.AgentSessionID}
	// The id of a starting session is new, and has no transcript unless a cursor exists.
	if w.r.State != session.Starting || len(w.r.Cursors) > 0 {
		has, err := w.HasTranscript(*w.r, w.r.AgentSessionID)
		if err == nil {
			err = w.Observer.CheckUnread(*w.r)
		}
		if has || err != nil {
			begin.Resumes = true
			return begin, err
		}
	}
	if w.r.ForkOf != uuid.Nil {
		has, err := w.HasTranscript(*w.r, w.r.ForkOf)
		if has || err != nil {
			begin.CopyOf = w.r.ForkOf
			return begin, err
		}
	}
	return begin, nil
}

// bind records the pane and the process of the session's agent. A process that has already ended is
// bound too: the next step reads its exit.
func (w *opening) bind(ctx context.Context, pane tmux.Pane) error {
	server, err := w.Panes.Server(ctx)
	if err != nil {
		return fmt.Errorf("bind: %w", err)
	}
	p, err := w.Processes.Inspect(pane.PID)
	if errors.Is(err, process.ErrGone) { // it no longer has an identity: its pane shows how it ended
		p.Identity, err = process.Identity{PID: pane.PID}, nil
	}
	if err != nil {
		return fmt.Errorf("bind: inspect process %d: %w", pane.PID, err)
	}
	w.bindTo(server, pane, p.Identity)
	return w.save()
}

// isReplaced reports whether tmux could not enter the requested directory and has started the agent
// in the home folder, or in the root, instead. An agent may enter any other one by itself, such as a
// worktree.
func isReplaced(got, want string) bool {
	home, err := os.UserHomeDir()
	return !inDir(got, want) && (got == "/" || err == nil && inDir(got, home))
}

// inDir reports whether the pane is in the requested directory. An empty path means that tmux could
// not read it.
func inDir(got, want string) bool {
	real, err := filepath.EvalSymlinks(want)
	return err != nil || got == "" || got == want || got == real
}

// takeUp binds a session to a window that was found, and continues the launch from there. A crash
// may have come before the window got its name.
func (w *opening) takeUp(ctx context.Context, pane tmux.Pane) error {
	w.r.NameDue = true
	if err := w.bind(ctx, pane); err != nil {
		return err
	}
	w.watchAgent(w.r.Clone())
	w.agenda.wake(w.r.ID)
	return nil
}

// launchFacts looks for the launch of a session that is bound to nothing. At a start, a pane whose
// process cannot be seen may be the launch: it may have ended already. In a step the window may
// still come.
func (w *opening) launchFacts(ctx context.Context, start bool) (f Facts, launch tmux.Pane, err error) {
	panes, err := w.windows.Panes(ctx)
	if err != nil && !errors.Is(err, tmux.ErrNoServer) {
		return f, launch, fmt.Errorf("find the window of session %s: %w", w.r.ID, err)
	}
	panes = slices.DeleteFunc(panes, func(p tmux.Pane) bool { return p.Tag != w.Evidence.Tag(w.r.ID) })
	holds := make(map[tmux.PaneID]bool)
	for _, pane := range panes {
		if p, err := w.Processes.Inspect(pane.PID); err == nil || !start {
			holds[pane.ID] = err == nil && w.Evidence.StartedFor(*w.r, p)
		}
	}
	f = Facts{Now: w.Now(), Grace: w.OrphanGrace, Start: start, Agent: process.Gone, Fate: view.PaneGone}
	launch, found := LaunchPane(panes, holds)
	if found {
		f.Fate = view.PaneOurs
	}
	return f, launch, nil
}

// LaunchPane returns the pane that holds a launch, of those with the launch's tag. Earlier launches
// may have left windows with the same tag: the last one counts. holds maps panes to whether they
// hold the launch; if that is unknown for a window's first pane, this pane counts if no pane is
// known to hold the launch.
func LaunchPane(panes []tmux.Pane, holds map[tmux.PaneID]bool) (launch tmux.Pane, found bool) {
	oldest := tmux.OldestFirst(panes)
	for i, p := range oldest {
		_, seen := holds[p.ID]
		if first := i == 0 || oldest[i-1].Window != p.Window; first && !seen {
			launch, found = p, true
		}
	}
	for _, p := range oldest {
		if holds[p.ID] {
			launch, found = p, true
		}
	}
	return launch, found
}

// findLaunch binds a launch whose window is not known to the window that it made, if that window is
// there.
func (w *opening) findLaunch(ctx context.Context) (found bool, err error) {
	if !unbound(*w.r) {
		return false, nil
	}
	f, launch, err := w.launchFacts(ctx, false)
	if err != nil || f.Fate != view.PaneOurs {
		return false, err
	}
	return true, w.takeUp(ctx, launch)
}

// nameWindow sets the name of the session's window. The next step retries a failure: nothing may
// wait for a name.
func (w *opening) nameWindow(ctx context.Context, v view.View) error {
	if !w.r.NameDue || v.Fate != view.PaneOurs {
		return nil
	}
	pane := tmux.Guard{Pane: v.Pane.ID, PID: w.r.Binding.PanePID()}
	if err := w.windows.Rename(ctx, pane, w.Evidence.Tag(w.r.ID), w.r.Name); err != nil {
		w.Log.Warn("window_not_renamed", logkey.SessionID, w.r.ID.String(), logkey.Error, err)
		return nil
	}
	w.at("window-named")
	w.r.NameDue = false
	return w.save()
}
