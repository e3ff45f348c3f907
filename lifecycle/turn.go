package lifecycle

import (
	"context"
	"slices"

	"github.com/google/uuid"

	coding "ccbot/agent"
	"ccbot/agent/history"
	"ccbot/internal/logkey"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/view"
	"ccbot/port/news"
	"ccbot/tmux"
)

// base has the common tools of a work: the Observer, which changes nothing, the news, the agenda
// and the step states.
type base struct {
	*view.Observer
	Evidence      *evidence.Sources
	News          News
	store         *session.Store
	at            func(failpoint string)
	agenda        *agenda
	states        *stepStates
	forgetPrompts func(uuid.UUID) // forgets what typing remembers of a session
}

// turn is one turn of a session's worker: the record and its save.
type turn struct {
	*base
	r       *session.Record
	write   func() error // puts the record on disk
	save    func() error // also delivers the news, if this turn reports any
	reports bool         // this turn has added news, or may have made those that waited due
}

// agent returns the parts of the session's agent.
func (w *turn) agent() coding.Agent { return w.Agents.Of(w.r.AgentName) }

// recall returns what is remembered of the session.
func (w *turn) recall() stepState { return w.states.recall(w.r.ID) }

// forget forgets what is remembered of the session: it has another agent now.
func (w *turn) forget() { w.base.forget(w.r.ID) }

func (b *base) forget(id uuid.UUID) {
	b.states.forget(id)
	b.forgetPrompts(id)
}

func (w *turn) remember(change func(*stepState)) { w.states.remember(w.r.ID, change) }

// become notes the next state, and saves it with the news about it, if there is any.
func (w *turn) become(ctx context.Context, next session.State, rule session.Rule, why string, n news.News) error {
	if err := w.r.Become(next, w.Now(), rule, why); err != nil {
		return err
	}
	if n != nil {
		if err := w.notify(ctx, n); err != nil {
			return err
		}
	}
	return w.saveAndFollow(ctx)
}

// saveAndFollow saves, and then reports that the transcript has to be read again: there is another
// transcript, or the session is over and the rest of the transcript is the last.
func (w *turn) saveAndFollow(ctx context.Context) error {
	w.reports = true
	if err := w.save(); err != nil {
		return err
	}
	return w.notify(ctx, news.Transcript{})
}

// changeID notes that the conversation has another id from now on. It also clears ForkOf: a
// restore must not begin the copy of another conversation again.
func (w *turn) changeID(id uuid.UUID) {
	earlier := slices.DeleteFunc(w.r.EarlierSessionIDs, func(k uuid.UUID) bool { return k == id })
	w.r.EarlierSessionIDs = append(earlier, w.r.AgentSessionID)
	w.r.AgentSessionID, w.r.ForkOf, w.r.SinceMoment = id, uuid.Nil, w.Moment()
}

// followTo is changeID for an agent that went to another conversation by itself.
func (w *turn) followTo(id uuid.UUID) {
	w.changeID(id)
	w.r.Note(w.Now(), ruleFollowed, "its agent is in another conversation now")
}

// endSeen returns the moment of an end that this ccbot has just seen. If this ccbot never saw the
// agent alive, the moment is unknown, and a person may have continued in the terminal before ccbot
// came back. Then it is zero: no process counts as a leftover except those that the record bound.
// The same holds for a launch that never had an agent.
func (w *turn) endSeen() process.Moment {
	if w.r.Binding == nil || w.recall().agent != w.r.Binding.Agent {
		return process.Moment{}
	}
	return w.Moment()
}

// keepProgress reads on in the transcript, and reports whether it found anything new. The caller
// saves.
func (w *turn) keepProgress() bool {
	next, err := w.agent().Transcripts.Advance(w.r.Progress, w.Observer.TranscriptPath(*w.r))
	if err != nil {
		w.Log.Debug("transcript_unreadable", logkey.SessionID, w.r.ID.String(), logkey.Error, err)
		return false
	}
	news := !sameWork(next, w.r.Progress)
	w.r.Progress = next
	return news
}

// sameWork reports whether two values describe the same work, no matter up to which offset they
// were read.
func sameWork(p, q history.Progress) bool {
	open := p.OpenTurn == q.OpenTurn || p.OpenTurn != nil && q.OpenTurn != nil && *p.OpenTurn == *q.OpenTurn
	return open && p.Failed == q.Failed && p.Pursues == q.Pursues && p.Path == q.Path && p.From == q.From && p.Turns == q.Turns && p.LastTurnAt.Equal(q.LastTurnAt) &&
		p.Model == q.Model && p.RequestedModel == q.RequestedModel && p.PermissionMode == q.PermissionMode && p.Tokens == q.Tokens && slices.Equal(p.Tasks, q.Tasks)
}

// keepUsage puts what the status line said into the record, and reports whether that has changed.
// The caller saves.
func (w *turn) keepUsage() bool {
	now := w.Observer.Usage(*w.r)
	if now == nil || w.r.Usage != nil && now.Same(*w.r.Usage) {
		return false
	}
	w.r.Usage = now
	return true
}

func (w *turn) bindTo(server tmux.ServerID, pane tmux.Pane, agent process.Identity) {
	w.r.Binding = &session.Binding{
		Server: session.Server{Socket: server.Socket, PID: server.PID, Start: server.Start},
		Window: pane.Window.String(), Pane: pane.ID.String(), Agent: agent, BoundAt: w.Now().UTC()}
	w.r.Bound = w.Evidence.Living(append(w.r.Bound, agent))
	w.bindProgram()
}

// bindProgram notes which program the bound process runs.
func (w *turn) bindProgram() {
	b := w.r.Binding
	if p, err := w.Processes.Inspect(b.Agent.PID); err == nil && p.Identity == b.Agent {
		w.r.Exe, b.Exe, b.ArgvDigest = p.Exe, p.Exe, process.ArgvHash(p.Args)
	}
}

// bindAdopted binds the record to an agent in a pane that a person opened.
func (w *turn) bindAdopted(server tmux.ServerID, agent evidence.Writer) {
	now := w.Now().UTC()
	w.r.StartedAt, w.r.ReadyAt, w.r.SinceMoment = now, now, w.Moment()
	w.bindTo(server, agent.Pane, agent.Identity)
	w.r.Binding.Adopted, w.r.Binding.Command = true, agent.Pane.Command
	if agent.Pane.PID != agent.PID {
		w.r.Binding.Shell = agent.Pane.PID
	}
}

// watchAgent makes the end of the session's bound agent wake the session. If the agent is watched
// already, it does nothing.
func (b *base) watchAgent(r session.Record) {
	if r.Binding == nil || !r.Binding.Agent.Valid() || b.Processes.Liveness(r.Binding.Agent) != process.Alive {
		return
	}
	b.states.remember(r.ID, func(m *stepState) { m.agent = r.Binding.Agent })
	b.agenda.watch(watch{session: r.ID, agent: r.Binding.Agent})
	if server := r.Binding.AgentServer; server.Valid() {
		b.agenda.watch(watch{session: r.ID, agent: server})
	}
}

// The rules of the changes of a session's state, as in the record's history.
const (
	ruleStart   session.Rule = "start"     // a request for a new session
	ruleReady   session.Rule = "ready"     // the agent is ready
	ruleResume  session.Rule = "resume"    // a person asked to have a session back
	ruleAdopt   session.Rule = "adopt"     // a window that a person opened became a session's
	ruleStop    session.Rule = "stop"      // a request for the end
	RuleIdle    session.Rule = "stop.idle" // nothing has happened in the session for long
	ruleStopped session.Rule = "stopped"   // the result of an archive
	ruleEnded   session.Rule = "ended"     // the agent ended by itself
	ruleLost    session.Rule = "lost"      // the pane went away without ccbot
	ruleFailed  session.Rule = "failed"    // a launch never became ready
	ruleGone    session.Rule = "gone"      // its transcript is not in its place
	ruleBack    session.Rule = "back"      // it is there again, or elsewhere
	// ruleFollowed: the agent is in another conversation, after /clear or an in-TUI /resume.
	ruleFollowed session.Rule = "resume.current_session_followed"
)
