package recovery

import (
	"slices"
	"strings"

	"github.com/google/uuid"

	"ccbot/internal/each"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/evidence"
	"ccbot/tmux"
)

// Start-up in five minutes. For each record, Plan collects facts from the World and asks
// lifecycle.Decide, as each step does: life.go of that package has the table. Plan itself decides
// what only a start can know. The first row that holds decides:
//
//	it has ended: its cleanup failed                     nothing: Pending
//	    something of it still runs                       EndLeftovers; during a pause Pending
//	its transcript is left unread                        nothing
//	tmux did not answer                                  nothing: Unclear
//	it has no pane, and this ccbot launches it now       nothing: its steps decide
//	Decide says nothing: it is unknown whether the
//	    agent runs, and it was silent for too long       Abandon
//	    otherwise                                        nothing: Unclear
//	Decide says MarkLost, and its conversation
//	    continues in another window                      TakeOver
//	Decide says Reattach or Conclude, and this ccbot
//	    watches it already                               nothing: its steps decide
//	otherwise                                            what Decide says
//
// Then come the windows that belong to no record. The lookups of a row are in world.go.

// These are the actions of recovery besides those that lifecycle.Decide returns.
const (
	// Pane and agent are proven gone, and the conversation continues in another pane.
	TakeOver lifecycle.Do = "take_over"
	// It is unknown whether the agent lives, and there was no sign of life for too long.
	Abandon lifecycle.Do = "abandon"

	// Not planned, but reported: see reconcileResume.
	SetAside lifecycle.Do = "set_aside" // the conversation came back, and this session is too old to be chosen
)

// Action is one thing to do with one record.
type Action struct {
	Do             lifecycle.Do
	Record         uuid.UUID
	Pane           tmux.Pane        // of Bind and TakeOver: where the agent runs
	Agent          process.Identity // of TakeOver: the process that becomes the session's agent
	AgentSessionID uuid.UUID        // of TakeOver: the conversation that this process writes
	// Of MarkLost, TakeOver, Abandon and SetAside: how the session was lost or set aside, a session.Closed…
	// reason or empty.
	Closed string
	// Silence is that of Abandon and SetAside.
	Silence Silence

	Why      string // the rule, in a sentence
	Evidence string // the facts that make the rule apply
}

// Notice is something to report that changes nothing.
type Notice struct {
	Kind   NoticeKind
	Record uuid.UUID // Nil: it is about no record
	Pane   tmux.Pane // of OrphanWindow
	Window string    // of StaleWindow
	File   string    // of Newer and Unreadable
	Why    string
}

// NoticeKind is the subject of a Notice.
type NoticeKind string

const (
	// A window that no record is bound to and no ccbot has tagged.
	OrphanWindow NoticeKind = "orphan_window"
	StaleWindow  NoticeKind = "stale_window" // a record's window is gone
	Unclear      NoticeKind = "unclear"      // the fate of a session is unknown
	Pending      NoticeKind = "pending"      // leftovers of a session are ended later
	Unreadable   NoticeKind = "unreadable"   // a record could not be read and was set aside
)

// Plan decides start-up: at most one action for each record, and the notices that are reported in
// addition. It is pure and total, and leaves alone what is unknown.
func Plan(w World) (actions []Action, notices []Notice) {
	p := index(w)
	for _, r := range w.Records {
		a, n := p.record(r)
		if a != nil {
			a.Record = r.ID
			actions = append(actions, *a)
		}
		if n != nil {
			n.Record = r.ID
			notices = append(notices, *n)
		}
	}
	for _, pane := range w.Orphans() {
		if slices.ContainsFunc(actions, func(a Action) bool { return a.Pane.Window == pane.Window }) {
			continue // an action binds a session to it
		}
		notices = append(notices, Notice{Kind: OrphanWindow, Pane: pane, Why: "no Session record references it"})
	}
	for _, a := range w.Unloaded {
		notices = append(notices, Notice{Kind: Unreadable, Record: a.ID, File: a.File, Why: a.Why})
	}
	return actions, notices
}

// record decides one record.
func (p plan) record(r session.Record) (*Action, *Notice) {
	switch {
	case !r.State.Live():
		return p.decideEnded(r)
	case p.Unread[r.ID]:
		return nil, nil // nothing is known of it, and the chat has a message about the file
	case p.Tmux == TmuxUnknown:
		return nil, &Notice{Kind: Unclear, Why: "tmux did not answer"}
	case r.State.Open() && r.Binding == nil && p.launchedHere(r):
		return nil, nil // its step looks for the window: nothing died
	}
	f, pane := p.facts(r)
	d := lifecycle.Decide(r, f)
	a := &Action{Do: d.Do, Why: d.Why}
	switch d.Do {
	case "":
		return p.unclear(r)
	case lifecycle.MarkLost:
		return p.lost(r, a)
	case lifecycle.Reattach, lifecycle.Conclude:
		if p.Watched[r.ID] {
			return nil, nil
		}
		a.Evidence = describePane(pane)
		if d.Do == lifecycle.Conclude {
			a.Evidence += ", " + describeAgent(*r.Binding)
		}
	case lifecycle.Bind:
		a.Pane, a.Evidence = pane, describePane(pane)
	case lifecycle.FinishStop:
		a.Evidence = "it is still stopping"
	default:
		a.Evidence = noLaunch
	}
	return a, nil
}

// noLaunch is the evidence that the window of a launch was never made.
const noLaunch = "no window with its tag holds its launch"

// decideEnded decides about a session that has ended.
func (p plan) decideEnded(r session.Record) (*Action, *Notice) {
	left := p.leftovers(r)
	d := lifecycle.Decide(r, lifecycle.Facts{Now: p.Now, Grace: p.Limits.OrphanGrace, Start: true, Left: len(left) > 0})
	switch {
	case d.Do == lifecycle.Retry, d.Again > 0: // a step, or a later start, tries again
		return nil, &Notice{Kind: Pending, Why: describePending(r)}
	case d.Do == "":
		return nil, nil
	}
	return &Action{Do: d.Do, Why: d.Why, Evidence: strings.Join(each.As(left, describeWriter), "; ")}, nil
}

// leftovers returns the processes of an ended session that may be ended: each is proven to be the
// session's own, and nothing protects it.
func (p plan) leftovers(r session.Record) (left []evidence.Writer) {
	for _, w := range p.Survey.Writers[r.ID] {
		if w.Standing == evidence.Leftover && w.Endable() {
			left = append(left, w)
		}
	}
	return left
}

// unclear leaves a session alone if the fate of its agent or of its pane is unknown.
func (p plan) unclear(r session.Record) (*Action, *Notice) {
	switch b := r.Binding; {
	case b == nil:
		return p.silent(r, "it is bound to nothing, and who writes its conversation cannot be seen")
	case p.sameServer(*b) == process.Maybe:
		return p.silent(r, "its binding was noted by another clock")
	case p.sameServer(*b) == process.No && !p.serverGone(*b):
		return nil, &Notice{Kind: Unclear, Why: "its tmux server is not proven to have ended, but does not listen on the socket"}
	case p.agent(r) == process.Alive:
		return nil, &Notice{Kind: Unclear, Why: "its process lives without its pane"}
	}
	return p.silent(r, "it is not known whether its process lives")
}

// silent abandons a session after too long without a sign of life; no process is ended.
func (p plan) silent(r session.Record, why string) (*Action, *Notice) {
	if silence, stale := p.Signs[r.ID].stale(p.Now, p.Limits.StaleRunning); stale && r.State == session.Running {
		return &Action{Do: Abandon, Closed: session.ClosedSilent, Silence: silence, Why: silence.String(), Evidence: why}, nil
	}
	return nil, &Notice{Kind: Unclear, Why: why}
}

// lost decides a session that has no pane and no process: it continues in its heir, if it has one.
func (p plan) lost(r session.Record, a *Action) (*Action, *Notice) {
	var stale *Notice
	a.Evidence = noLaunch
	if r.Binding != nil {
		a.Closed = lifecycle.HowLost(*r.Binding, p.Boot, p.sameServer(*r.Binding) == process.No)
		a.Evidence = p.describeGone(*r.Binding, a.Closed)
		stale = &Notice{Kind: StaleWindow, Window: r.Binding.Window, Why: "the window is gone"}
	}
	if w, ok := p.heir(r); ok {
		a.Do, a.Agent, a.Pane, a.AgentSessionID = TakeOver, w.Identity, w.Pane, r.AgentSessionID
		a.Why, a.Evidence = "its agent is gone, and its conversation continues in another window", describeWriter(w)
	}
	return a, stale
}

// heir returns the agent that continues the conversation of a running session elsewhere, if the
// session's own agent is proven gone. There is an heir only if this agent is the only process that
// writes the conversation, and the session the only owner.
func (p plan) heir(r session.Record) (w evidence.Writer, ok bool) {
	writers := p.Survey.Writers[r.ID]
	if r.State != session.Running || len(writers) != 1 || p.owners[r.AgentSessionID] != 1 {
		return w, false
	}
	w = writers[0]
	return w, objection(w, r.SecondWriters, p.Nested[w.Identity]) == "" && !taken(p.Records, p.Server, p.Boot, w.Pane.Window, r)
}
