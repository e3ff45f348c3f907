package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ccbot/bot/port/news"
	"ccbot/internal/logkey"
	"ccbot/internal/presence"
	"ccbot/internal/session"
	"ccbot/tmux"
)

// screenLines is how many lines that scrolled off a dead pane are kept with its screen.
const screenLines = 40

// conclude finishes a session whose agent ended by itself: it keeps the exit and the last screen,
// informs the person and closes the dead pane. If the session was never ready, it has failed.
func (w *work) conclude(ctx context.Context) error {
	w.settle(ctx)
	w.r.Exit = w.exit()
	by, err := w.endedBy(ctx)
	if err != nil {
		return err
	}
	if err := w.settlePrompts(ctx, by.Key); err != nil {
		return err
	}
	if w.r.State != session.Running {
		if err := w.closeOwn(ctx); err != nil {
			return err
		}
		return w.failed(ctx, "the agent ended before it was ready", w.view.Screen.Text)
	}
	noteInterruption(ctx, w)
	if err := w.save(); err != nil { // the button that continues the work may be tapped as soon as the end is reported
		return err
	}
	r := w.r.Clone()
	r.Prompts = slices.DeleteFunc(r.Prompts, func(key string) bool { return key == by.Key })
	if err := w.tell(ctx, r, news.Ended{Screen: w.view.Screen.Text, Asked: by.Key != ""}); err != nil {
		return err
	}
	w.at("end-told")
	if slices.Contains(w.r.Prompts, by.Key) {
		if err := w.proven(ctx, by); err != nil {
			return err
		}
	}
	why := "the agent ended by itself"
	switch e := w.r.Exit; {
	case !e.Crashed():
	case e.Signal != 0:
		why += fmt.Sprintf(", killed by signal %d", e.Signal)
	default:
		why += fmt.Sprintf(", with exit status %d", e.Status)
	}
	if err := w.intend(session.Completed, why, w.endSeen()); err != nil {
		return err
	}
	w.at("end-recorded")
	return w.complete(ctx)
}

// complete closes the dead pane of a session whose end is reported and on disk.
func (w *work) complete(ctx context.Context) error {
	if err := w.closeOwn(ctx); err != nil {
		return err
	}
	w.over(w.r.Asked)
	return w.become(ctx, session.Completed, ruleEnded, "its process is gone", nil)
}

// settle waits a moment until tmux knows how the process ended: tmux says that a pane is dead
// slightly before it has the status or the signal.
func (w *work) settle(ctx context.Context) {
	known := func() bool {
		p := w.view.Pane
		return w.view.Fate != PaneDead || p.DeadStatus >= 0 || p.DeadSignal != 0
	}
	if known() {
		return
	}
	await(ctx, lookPace, settleWait, func() bool {
		w.view = w.Observer.View(ctx, *w.r)
		return known()
	})
}

// settleWait is how long tmux may take to learn how a process ended.
const settleWait = time.Second

// endedBy returns the prompt whose text has ended the agent; the zero Prompt means that none has. A
// clean end right after such a text, or after any slash command, proves that the agent took it:
// there is no other proof.
func (w *work) endedBy(ctx context.Context) (Prompt, error) {
	p := lastTaken(w)
	head, err := w.head()
	if err != nil || w.r.Exit.Crashed() {
		return Prompt{}, err
	}
	switch {
	case head.entered() && head.ends():
		return *head, nil // it is finished only when the end is reported, so that a crash repeats the same report
	case head.entered() && head.Class == ClassCommand && w.r.Exit.Known:
		return Prompt{}, w.proven(ctx, *head)
	case !p.ends():
		return Prompt{}, nil
	}
	return p, nil
}

func (w *work) exit() *session.Exit {
	e := &session.Exit{At: w.Now().UTC()}
	if w.view.Fate == PaneDead {
		p := w.view.Pane
		e.Known = p.DeadStatus >= 0 || p.DeadSignal != 0
		e.Status, e.Signal = max(p.DeadStatus, 0), p.DeadSignal
	}
	if w.view.Captured && w.view.Fate == PaneDead { // otherwise the screen belongs to a shell that lives on
		e.Screen = w.view.Screen.Text
	}
	return e
}

// noteInterruption notes a turn that the end of the agent has cut short. The caller saves.
func noteInterruption(ctx context.Context, w *work) {
	b := w.r.Binding
	if w.r.State != session.Running || b == nil {
		return
	}
	w.keepProgress()
	last, err := w.Evidence.Presences.Read(ctx, b.Agent.PID)
	if err != nil || last.ProcStart != b.Agent.Start || last.SessionID != w.r.ClaudeSessionID {
		last = presence.File{} // there is no file, or it is of another process
	}
	seen := w.LastThere
	if w.recall().agent == b.Agent {
		seen = w.Now()
	}
	w.r.Interruption = interruption(*w.r, last, seen, w.Now())
}

// lost notes that the pane and its agent are gone, and that ccbot did not end them.
func (w *work) lost(ctx context.Context) error {
	const why = "pane and process are proven gone"
	server, err := w.Tmux.Server(ctx)
	all := errors.Is(err, tmux.ErrNoServer) || err == nil && w.r.Binding != nil && !onServer(server, *w.r.Binding)
	w.Log.Warn("session_lost", logkey.SessionID, w.r.ID.String(), logkey.TmuxEnded, all)
	if all && w.Hears.Lost != nil {
		defer w.Hears.Lost()
		return w.giveUp(ctx, session.Lost, ruleLost, why+", and so is their tmux server", session.ClosedTmux, nil)
	}
	return w.giveUp(ctx, session.Lost, ruleLost, why, "", news.Lost{})
}

// onServer says whether a tmux server is that of a binding. Every new server starts its ids again.
func onServer(s tmux.ServerID, b session.Binding) bool {
	return s.PID == b.Server.PID && s.Start == b.Server.Start
}

// settlePrompts asks the transcript once more about the prompts that were being typed when the
// agent ended, except the one that has ended the agent.
func (w *work) settlePrompts(ctx context.Context, but ...string) error {
	for _, key := range append([]string(nil), w.r.Prompts...) {
		p, err := ownPrompt(w, key)
		if err != nil || p.State != Typing || slices.Contains(but, key) {
			continue
		}
		if err := w.settlePrompt(ctx, p); err != nil {
			return err
		}
	}
	return nil
}
