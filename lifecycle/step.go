package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/logkey"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/tmux"
)

// step reads, decides and acts once, and returns when to step again.
func (c *core) step(ctx context.Context, id uuid.UUID) (again time.Duration, err error) {
	r, ok := c.Store.Get(id)
	if !ok || !stepped(r) {
		return 0, nil
	}
	untold := c.deliverNews(ctx, r) // which holds up nothing else (P3)
	switch {
	case !lives(r):
		return 0, untold
	case c.Observer.CheckUnread(r) != nil: // unknown: nothing is concluded, ended or typed
		return view.Slow, untold
	}
	err = c.do(ctx, id, func(w *work) error {
		head, err := w.prompts.Head()
		if err != nil {
			return err
		}
		if unbound(*w.r) {
			f, launch, err := w.opening.launchFacts(ctx, false)
			if err != nil {
				return err
			}
			d := Decide(*w.r, f)
			again = d.Again
			return w.live(ctx, d, launch)
		}
		if err := w.look(ctx, head); err != nil {
			return err
		}
		if again = w.prompts.ClearLeft(ctx); again > 0 { // the view is no longer that of this step
			return nil
		}
		d, budget := decide(*w.r, w.term.View, head), w.r.Budget
		if d.Act == Do(typing.Type) && head.State == typing.Held && w.prompts.IsAtBorder(*head) {
			return w.prompts.AskAtBorder(ctx, *head)
		}
		if d, err = w.useBudget(d, head); err != nil {
			return err
		}
		again = d.Again
		c.Log.Debug("session_step", logkey.SessionID, id.String(), logkey.State, string(w.r.State), logkey.Phase, string(w.term.Phase()),
			logkey.Agent, w.term.Agent.String(), logkey.Pane, int(w.term.Fate), logkey.Act, string(d.Act), logkey.Why, string(d.Why), logkey.Again, d.Again)
		gone, err := w.report.noteGone(ctx)
		err = errors.Join(err, w.act(ctx, d, head))
		if err == nil && d.Act == Do(typing.Type) {
			err = w.returnBudget(budget, head.Key)
		}
		var lines time.Duration
		if err == nil { // after an error the record may be half changed, and must not be saved
			if w.r.State == session.Running && w.term.Phase() == talk.PhaseIdle {
				w.prompts.NoteIdle()
			}
			lines, err = w.report.noteState(ctx) // it comes last, because typing must not wait for it
		}
		again = sooner(sooner(max(sooner(again, gone), w.switching.Again, w.prompts.Again), lines), w.report.checkInterval())
		return err
	})
	return again, errors.Join(untold, err)
}

// costsNotice is how long a prompt waits after a turn before the wait for its cost is reported.
const costsNotice = 5 * time.Second

// useBudget returns the decision about a prompt: one that would be typed waits unless the session's
// budgets have something left, which it uses up. A prompt whose typing a crash has ended early has
// used it already.
func (w *work) useBudget(d decision, head *typing.Prompt) (decision, error) {
	if d.Act != Do(typing.Type) || head.State == typing.Typing {
		return d, nil
	}
	if w.r.Budget.State != port.BudgetUnknown && !w.recall().costsSince.IsZero() {
		w.remember(func(m *stepState) { m.costsSince = time.Time{} })
	}
	switch w.r.Budget.State {
	case port.BudgetSpent:
		return decision{Act: Do(typing.Hold), Why: news.HeldBudget, Again: view.HoldPace}, nil
	case port.BudgetUnknown:
		since := w.recall().costsSince
		if since.IsZero() {
			since = w.term.Now
			w.remember(func(m *stepState) { m.costsSince = since })
		}
		if waited := w.term.Now.Sub(since); waited < costsNotice {
			return decision{Again: costsNotice - max(waited, 0)}, nil
		}
		return decision{Act: Do(typing.Hold), Why: news.HeldCosts, Again: view.HoldPace}, nil
	case port.BudgetLeft:
		w.r.Budget = w.r.Budget.Next()
		return d, w.save()
	}
	return d, nil
}

// returnBudget restores the budget from before the typing of a prompt that was not typed, because a
// person or a dialog came first.
func (w *work) returnBudget(was port.Budget, key string) error {
	if w.r.Budget == was {
		return nil
	}
	if head, err := w.prompts.Head(); err != nil || head == nil || head.Key != key || head.State != typing.Held {
		return err
	}
	w.r.Budget = was
	return w.save()
}

// sooner returns the shorter of two waits; 0 means no wait.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// look looks at the world, for a decision about the head of the queue.
func (w *work) look(ctx context.Context, head *typing.Prompt) error {
	w.term.Refresh(ctx)
	if err := ctx.Err(); err != nil {
		return err // ccbot is being stopped: a failed reading proves nothing
	}
	if bound, err := w.ender.BindServer(ctx); err != nil {
		return err
	} else if bound {
		w.term.Refresh(ctx)
	}
	w.watchAgent(*w.r)
	if err := errors.Join(w.leave(), w.keepProgram(), w.keepUp(ctx), w.followMoved(ctx), w.keepFolder(ctx), w.opening.nameWindow(ctx, w.term.View)); err != nil {
		return err
	}
	if head != nil {
		w.prompts.NoteHead(head)
	}
	w.report.noteOpen()
	w.prompts.NoteStill()
	w.term.View.Tidied = w.recall().tidied
	return nil
}

// keepProgram notes another name of the bound process: an agent may execute itself again to change the way it draws,
// and tmux then shows another command for the same process. The binding does not change for any other process.
func (w *work) keepProgram() error {
	b, v := w.r.Binding, w.term.View
	if w.r.State != session.Running || v.Fate != view.PaneOurs || view.InFront(*w.r, v) || w.Evidence.AgentAlive(*b) != process.Alive {
		return nil
	}
	if p, err := w.Processes.Inspect(b.Agent.PID); err != nil || p.Identity != b.Agent || !p.IsNamed(v.Pane.Command) {
		return nil // the name of another process, or one that has just ended
	}
	b.Command = v.Pane.Command
	w.bindProgram()
	return w.save()
}

// act carries out a decision.
func (w *work) act(ctx context.Context, d decision, head *typing.Prompt) error {
	switch d.Act {
	case actReady:
		return w.ready(ctx)
	case actNotReport:
		return w.report.notifySilent(ctx)
	case actDialog:
		return errors.Join(w.report.notifyDialog(ctx), w.prompts.SeekProof(ctx, head), w.prompts.Do(ctx, typing.Hold, news.HeldDialog, head))
	case actGrant:
		return w.switching.Grant(ctx)
	case actTidy:
		err := w.ender.Tidy(ctx)
		w.remember(func(m *stepState) { m.tidied = w.Now() })
		return err
	case Do(typing.Hold), Do(typing.Type), Do(typing.Clear), Do(typing.Proven), Do(typing.Settle), Do(typing.GiveUp):
		return w.prompts.Do(ctx, typing.Act(d.Act), d.Why, head)
	}
	return w.live(ctx, Decision{Do: d.Act}, tmux.Pane{})
}

// live carries out a decision about the session's life in a step. launch is the pane of Bind.
func (w *work) live(ctx context.Context, d Decision, launch tmux.Pane) error {
	switch d.Do {
	case Bind:
		return w.opening.takeUp(ctx, launch)
	case Fail:
		return w.closing.failed(ctx, d.Why, "")
	case Conclude:
		return w.closing.conclude(ctx)
	case MarkLost:
		return w.closing.lost(ctx)
	case FinishStop:
		return w.closing.stop(ctx, &ending.Receipt{})
	case Retry:
		w.closing.retried = true
		return w.closing.archive(ctx, w.r.Final, requestedEnd(port.Cause{Why: "another try to end what is left"}), &ending.Receipt{})
	}
	return nil
}

// askedForBypass reports whether the launch asks for bypass, and names no auto mode itself.
func (w *work) askedForBypass() bool {
	l := w.r.Launch
	return l != nil && w.agent().Starter.Bypasses(*l, "") &&
		!slices.ContainsFunc(l.Flags, func(f string) bool {
			return f == string(port.ModeAuto) || strings.HasSuffix(f, "="+string(port.ModeAuto))
		})
}

// ready makes the session usable: prompts are typed from then on. An agent that tmux has started in
// another directory than the requested one is ended instead. An agent that runs in two processes is
// ready when both are bound.
func (w *work) ready(ctx context.Context) error {
	switch age := w.Now().Sub(w.r.StartedAt); {
	case !w.Evidence.LacksServer(*w.r):
	case age >= StartNotice:
		return w.report.notifySilent(ctx)
	default:
		return nil
	}
	if isReplaced(w.term.Pane.Path, w.r.Folder()) {
		why := fmt.Sprintf("the agent is in %q instead of %q", w.term.Pane.Path, w.r.Folder())
		if err := w.notify(ctx, news.Failed{Screen: w.term.Screen.Text, In: w.term.Pane.Path}); err != nil {
			return err
		}
		if err := w.closing.intend(session.Archived, session.Change{Rule: ruleFailed, Why: why}, w.Moment()); err != nil {
			return err
		}
		return w.closing.stop(ctx, &ending.Receipt{})
	}
	why := "reported in, idle, empty prompt box"
	if w.r.ReportsAt.IsZero() {
		why = "idle with an empty prompt box; no event of its start was seen"
	}
	// An account may make an agent begin so. Its transcript then says bypass; only the footer has the mode.
	w.r.InAuto = w.r.State == session.Starting && w.term.Screen.Mode == string(port.ModeAuto) && w.askedForBypass()
	w.r.ReadyAt = w.Now().UTC()
	w.r.Binding.Command = w.term.Pane.Command
	w.bindProgram() // when it was bound, the process may still have been running tmux or env
	return w.become(ctx, session.Running, ruleReady, why, news.Ready{Moved: w.noteFolder(), InAuto: w.r.InAuto})
}
