package lifecycle

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	coding "ccbot/agent"
	"ccbot/internal/logkey"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// conclude finishes a session whose agent ended by itself: it keeps the exit and the last screen,
// informs the person and closes the dead pane. If the session was never ready, it has failed.
func (w *closing) conclude(ctx context.Context) error {
	if w.term.AwaitExit(ctx); !factsOf(w.term.View).ended(w.term.Adopted) {
		return view.ErrUnseen // tmux has ceased to answer: a later step reads how the agent ended
	}
	w.r.Exit = exitOf(w.term.View)
	by, err := w.endedBy(ctx)
	if err != nil {
		return err
	}
	if err := w.prompts.SettlePrompts(ctx, by.Key); err != nil {
		return err
	}
	if w.r.State != session.Running {
		if err := w.ender.CloseOwn(ctx, w.term.Pane); err != nil {
			return err
		}
		if w.term.Half != evidence.Whole {
			w.ender.End(ctx, toEnd(w.term.View), &ending.Receipt{}) // an end that fails is tried again with the leftovers
		}
		return w.failed(ctx, "the agent ended before it was ready", w.term.Screen.Text)
	}
	seen := w.endSeen() // before: what begins in the background from now on is no leftover
	w.noteElsewhere()
	if w.r.Attach == "" {
		w.noteInterruption(ctx)
	}
	if err := w.notify(ctx, news.Ended{Screen: w.term.Screen.Text, ByPerson: by.Key != "", Attach: w.r.Attach}); err != nil {
		return err
	}
	why := session.Change{Rule: ruleEnded, Why: "the agent ended by itself", Status: w.r.Exit.Status, Signal: w.r.Exit.Signal}
	switch {
	case w.term.Half == evidence.NoServer:
		why.Why = "the agent's server ended by itself"
	case why.Signal != 0:
		why.Why = fmt.Sprintf("the agent was ended by signal %d", why.Signal)
	case why.Status != 0:
		why.Why += fmt.Sprintf(", with exit status %d", why.Status)
	}
	if err := w.intend(session.Completed, why, seen); err != nil {
		return err
	}
	w.at("end-recorded")
	return w.stop(ctx, &ending.Receipt{})
}

// finishLast finishes the prompt that has ended the agent.
func (w *closing) finishLast(ctx context.Context) error {
	if w.r.Exit == nil {
		return nil
	}
	by, err := w.endedBy(ctx)
	if err != nil || !slices.Contains(w.r.Prompts, by.Key) {
		return err
	}
	return w.prompts.Finish(ctx, by)
}

// complete closes the dead pane of a session whose end is on disk.
func (w *closing) complete(ctx context.Context) error {
	if err := w.ender.CloseOwn(ctx, w.term.Pane); err != nil {
		return err
	}
	w.noteEnded(w.r.RequestedMoment)
	return w.become(ctx, session.Completed, ruleEnded, "its process is gone", nil)
}

// endedBy returns the prompt whose text has ended the agent; the zero Prompt means that none has. A
// clean end right after such a text, or after any slash command, proves that the agent took it:
// there is no other proof.
func (w *closing) endedBy(ctx context.Context) (typing.Prompt, error) {
	p := w.prompts.LastTaken()
	head, err := w.prompts.Head()
	if err != nil || w.r.Exit.Crashed() {
		return typing.Prompt{}, err
	}
	switch {
	case head.IsEntered() && head.Ends(w.agent().Manners):
		return *head, nil // it is finished only when the end is on disk, with the news of it
	case head.IsEntered() && head.Class == talk.ClassCommand && w.r.Exit.Known:
		return typing.Prompt{}, w.prompts.Finish(ctx, *head)
	case !p.Ends(w.agent().Manners):
		return typing.Prompt{}, nil
	}
	return p, nil
}

// exitOf returns how an agent ended, if its pane shows that.
func exitOf(v view.View) *session.Exit {
	e := &session.Exit{At: v.Now.UTC()}
	if v.Fate != view.PaneDead { // otherwise the screen belongs to a shell that lives on
		return e
	}
	e.Known = v.Pane.DeadStatus >= 0 || v.Pane.DeadSignal != 0
	e.Status, e.Signal = max(v.Pane.DeadStatus, 0), v.Pane.DeadSignal
	if v.Captured {
		e.Screen = v.Screen.Text
	}
	return e
}

// noteInterruption notes a turn that the end of the agent has cut short. The caller saves.
func (w *closing) noteInterruption(ctx context.Context) {
	b := w.r.Binding
	if w.r.State != session.Running || b == nil {
		return
	}
	w.keepProgress()
	f, err := w.agent().Presence(ctx, b.Writer().PID)
	last := view.StateOf(b.Writer(), f, err)
	if last.Known == view.StateWritten && last.Conversation != w.r.AgentSessionID {
		last = view.AgentState{Known: view.StateUnwritten}
	}
	seen := w.lastThere
	if w.recall().agent == b.Agent {
		seen = w.Now()
	}
	w.r.Interruption = interruption(*w.r, last, seen, w.Now())
}

// noteElsewhere follows a conversation that the agent has moved into its own background. It has
// another id there, and a process that is no leftover: a resume of the session finds it as a second
// writer. The caller saves.
func (w *closing) noteElsewhere() {
	w.keepProgress()
	on := w.r.Progress.GoesOn
	if on.Conversation == uuid.Nil || on.Conversation == w.r.AgentSessionID || on.At.Before(w.r.StartedAt) {
		return
	}
	w.followTo(on.Conversation)
	w.r.Attach = on.Attach
}

// lost notes that the pane and its agent are gone, and that ccbot did not end them.
func (w *closing) lost(ctx context.Context) error {
	const why = "pane and process are proven gone"
	closed := w.howLost()
	all := closed != ""
	w.Log.Warn("session_lost", logkey.SessionID, w.r.ID.String(), logkey.TmuxEnded, all)
	if all && w.tmuxLost != nil {
		defer w.tmuxLost()
		return w.giveUp(ctx, session.Lost, ruleLost, why+", and so is their tmux server", closed, nil)
	}
	return w.giveUp(ctx, session.Lost, ruleLost, why, "", news.Lost{})
}

// lostAway is lost for a session whose pane went away while no ccbot ran: one report has all of
// them. A session that was never ready has failed.
func (w *closing) lostAway(ctx context.Context, rule session.Rule, why string) error {
	next := session.Lost
	if w.r.State.Launching() {
		next = session.Failed
	}
	return w.giveUp(ctx, next, rule, why, w.howLost(), nil)
}

// howLost returns how the session's pane went down if more than the pane did.
func (w *closing) howLost() string {
	b, boot := w.r.Binding, w.Processes.Self().Boot
	if b == nil {
		return ""
	}
	return HowLost(*b, boot, w.Processes.Liveness(view.ServerOf(*b, boot)) == process.Gone)
}

// HowLost returns how the pane of a binding went down if more than the pane did, as a
// session.Closed… reason: with the machine, or with its tmux server.
func HowLost(b session.Binding, boot string, serverGone bool) string {
	switch {
	case b.Agent.Boot != "" && boot != "" && !process.SameBoot(b.Agent.Boot, boot):
		return session.ClosedReboot
	case serverGone:
		return session.ClosedTmux
	}
	return ""
}

// end returns the moment since which the session counts as over, to be used once nothing of the
// session lives. It must be the same moment that distinguished leftovers from second writers. With
// a later one, a process that was spared as a second writer would be a leftover from then on.
func (w *closing) end() process.Moment {
	if end, over := evidence.EndOf(*w.r); over {
		return end
	}
	return w.Moment()
}

// noteEnded notes that nothing of the session has lived since a moment.
func (w *closing) noteEnded(since process.Moment) {
	w.keepUsage() // while the binding still says to which agent the usage belongs
	w.keepProgress()
	w.r.Binding, w.r.Cleanup = nil, nil
	if w.r.Descendants = w.ender.LivingTools(); len(w.r.Descendants) > 0 {
		w.agenda.wake(w.r.ID) // they are ended in any state of the session
	}
	w.r.Bound = w.Evidence.Living(w.r.Bound)
	w.r.SecondWriters = w.Evidence.Living(w.r.SecondWriters)
	w.r.LastEnd = session.LastEnd{RequestedMoment: w.r.RequestedMoment, EndedMoment: since, EndedAt: w.Now().UTC(), TranscriptEnd: w.Observer.TranscriptSize(*w.r)}
}

// giveUp ends the life of a session without any known remains. Without news it is Unreported:
// recovery reports all such sessions at once.
func (w *closing) giveUp(ctx context.Context, next session.State, rule session.Rule, why, closed string, n news.News) error {
	if err := w.prompts.SettlePrompts(ctx); err != nil {
		return err
	}
	if next == session.Lost { // otherwise the end of the agent is not proven, or the session was never ready
		w.noteInterruption(ctx)
	}
	w.noteEnded(w.endSeen())
	w.r.ClosedReason, w.r.Unreported = closed, n == nil
	return w.become(ctx, next, rule, why, n)
}

// fail ends a launch that never became ready. The rest of the record stays as it was before the
// launch.
func (w *closing) fail(ctx context.Context, why string) error {
	w.noteEnded(w.endSeen())
	return w.become(ctx, session.Failed, ruleFailed, why, nil)
}

func (w *closing) failed(ctx context.Context, why, screen string) error {
	if err := w.notify(ctx, news.Failed{Screen: screen}); err != nil {
		return err
	}
	return w.fail(ctx, why)
}

// unseenFor is how long an agent may have worked while no ccbot ran before that counts: the time at
// which the previous ccbot was last there is known only to the minute.
const unseenFor = time.Minute

// interruption decides whether the end of an agent has cut a turn short. If it has not,
// interruption returns the one that the record already has. It is for an end that no person asked
// for. It is pure. An agent that a signal has ended writes neither the end of a turn nor an
// interrupt into the transcript, and its presence file may remain, with the last status.
//
//	a clean exit                             no: a person has left the agent
//	it waits for a person                    yes, unless the turn has ended since
//	it works                                 yes, unless the turn has ended since
//	it is idle, or that was never seen       yes, if a turn has begun since
//
// last is the state in the presence file that the agent has left. seen is the time until which a
// ccbot saw what the agent did.
func interruption(r session.Record, last view.AgentState, seen, now time.Time) *session.Interruption {
	phase, works, since := talk.Phase(r.Phase), view.Noted(r).Works(), r.PhaseAt
	if last.Phase != "" && last.Phase != talk.PhaseUnknown && !last.Since.Before(since) {
		phase, works, since = last.Phase, last.Phase == talk.PhaseWorking, last.Since
	}
	if r.StartedAt.After(since) {
		since = r.StartedAt // a turn that was open before the present launch belongs to an earlier interruption
	}
	open := r.Progress.OpenTurn
	if i := r.Interruption; i != nil && i.At.After(r.StartedAt) {
		return i // a crash came between noting the interruption and the session's end: each launch is interrupted only once
	}
	began := open != nil && open.At.After(since)
	ended := open == nil && r.Progress.LastTurnAt.After(since)
	busy := (phase.Waiting() || works) && !ended
	if r.Exit != nil && r.Exit.Known && !r.Exit.Crashed() || !busy && !began {
		return r.Interruption
	}
	i := &session.Interruption{At: now.UTC(), TasksTotal: len(r.Progress.Tasks), Waited: phase.Waiting(), TurnsWell: r.Progress.TurnsWell, Unseen: last.IsUnclear()}
	for _, task := range r.Progress.Tasks {
		if task.Status == "completed" {
			i.TasksDone++
		}
	}
	if i.TasksDone == i.TasksTotal {
		i.TasksTotal, i.TasksDone = 0, 0 // the list of work that has ended
	}
	if open != nil {
		i.Step = open.Step
		i.Unseen = i.Unseen || last.Since.IsZero() && open.At.After(seen.Add(unseenFor))
	}
	if before := r.Interruption; before != nil {
		i.Again = before.Followed && before.TurnsWell == i.TurnsWell
	}
	return i
}

// ContinuesAlone reports whether a session may continue by itself after its interruption: the agent
// was seen at work and not waiting for a person, it asks before it acts, and it is not interrupted
// again and again without a turn that ends well in between.
func ContinuesAlone(r session.Record, by coding.Starter) bool {
	i := r.Unfinished()
	if i == nil || i.Waited || i.Unseen || i.Again || r.Launch == nil {
		return false
	}
	return !by.Bypasses(*r.Launch, r.Progress.PermissionMode)
}
