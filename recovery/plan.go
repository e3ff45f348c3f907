package recovery

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/each"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/evidence"
	"ccbot/tmux"
)

// Start-up in five minutes. Plan asks plan.record what each record needs. The first row that holds
// decides:
//
//	it is over: ended on purpose, and something still runs     EndLeftovers, after a pause
//	tmux did not answer                                        nothing: Unclear
//	it is stopping                                             FinishStop
//	no pane is bound: this ccbot launches it now               nothing
//	    a window has its tag                                   Bind
//	    starting; restoring, young or old                      Discard; FinishRestore, Fail
//	    running                                                as if its agent were gone
//	its pane is there: the lifecycle watches it already        nothing
//	    the agent has ended there                              Conclude
//	    otherwise                                              Reattach
//	its pane is gone: the agent lives                          nothing: Unclear
//	    unknown, and silent for too long                       Abandon; before that Unclear
//	    gone too, and its conversation goes on elsewhere       TakeOver
//	    gone too                                               MarkLost
//
// Then come the windows that belong to no record. The lookups of a row are in world.go.

// Do is the change that recovery makes to one record.
type Do string

const (
	// The agent lives: the lifecycle watches it again, and its steps write the history.
	Reattach Do = "reattach"

	// The previous ccbot died in the midst of something.
	Bind Do = "bind" // a start: the window was made, the record does not name it yet
	// A start: there is no window, and the command that asked for it comes again.
	Discard       Do = "discard"
	FinishRestore Do = "finish_restore" // a restore of a moment ago: there is no window yet
	// An interrupted restore: there is no window, and no request waits for it.
	Fail       Do = "fail"
	FinishStop Do = "finish_stop" // an archive

	// Something happened while no ccbot ran.
	Conclude Do = "conclude"  // the agent ended by itself: read its exit, close its pane, report it
	MarkLost Do = "mark_lost" // the pane and the process are proven gone
	// Both are proven gone, and the conversation continues in another pane.
	TakeOver Do = "take_over"
	// It is unknown whether the agent lives, and there was no sign of life for too long.
	Abandon      Do = "abandon"
	EndLeftovers Do = "end_leftovers" // the session has ended, and processes of it still run

	// Not planned, but reported: see reconcileResume.
	SetAside Do = "set_aside" // the conversation came back, and this session is too old to be chosen
)

// Changes reports whether the action itself changes a record. Such an action is noted in the
// record's history before and after, and the records are backed up first.
func (d Do) Changes() bool { return d != Reattach }

// Action is one thing to do with one record.
type Action struct {
	Do     Do
	Record uuid.UUID
	Pane   tmux.Pane        // of Bind and TakeOver: where the agent runs
	Agent  process.Identity // of TakeOver: the process that becomes the session's agent
	Claude uuid.UUID        // of TakeOver: the conversation that this process writes
	// Of MarkLost and TakeOver: how the session was lost, a session.Closed… reason or empty.
	Closed string

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
	Newer        NoticeKind = "newer"        // a record of a newer ccbot is left alone
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
	for _, a := range w.Aside {
		kind := Unreadable
		if a.Newer {
			kind = Newer
		}
		notices = append(notices, Notice{Kind: kind, Record: a.ID, File: a.File, Why: a.Why})
	}
	return actions, notices
}

// record decides one record; the first rule that fits counts.
func (p plan) record(r session.Record) (*Action, *Notice) {
	switch {
	case !r.State.Live():
		return p.over(r)
	case p.Unread[r.ID]:
		return nil, nil // nothing is known of it, and the chat has a message about the file
	case p.Tmux == TmuxUnknown:
		return nil, &Notice{Kind: Unclear, Why: "tmux did not answer"}
	case r.State == session.Stopping:
		return &Action{Do: FinishStop, Why: "an archive was interrupted", Evidence: "it is still stopping"}, nil
	case r.Binding == nil:
		return p.unbound(r)
	}
	switch p.sameServer(*r.Binding) {
	case process.Maybe:
		return p.unknown(r, "its binding was noted by another clock")
	case process.No:
		if !p.serverGone(*r.Binding) {
			return nil, &Notice{Kind: Unclear, Why: "its tmux server is not proven to have ended, but does not listen on the socket"}
		}
	}
	if pane, there := p.pane(*r.Binding); there {
		return p.there(r, pane), nil
	}
	return p.gone(r)
}

// over decides a session that has ended. Leftovers are ended only of a session that was ended on
// purpose: a process that continues a lost session may belong to a person in a terminal.
func (p plan) over(r session.Record) (*Action, *Notice) {
	switch {
	case r.State == session.CleanupFailed:
		return nil, &Notice{Kind: Pending, Why: describePending(r)} // the lifecycle tries again
	case !r.State.EndedOnPurpose(), r.HandedOver():
		return nil, nil
	}
	left := p.leftovers(r)
	switch {
	case len(left) == 0 || p.young(r.EndedAt):
		return nil, nil
	case r.Cleanup != nil && p.waits(r.Cleanup.NotBefore):
		return nil, &Notice{Kind: Pending, Why: describePending(r)}
	}
	seen := each.As(left, describeWriter)
	return &Action{Do: EndLeftovers, Why: "it is over, and something of it still runs", Evidence: strings.Join(seen, "; ")}, nil
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

// unbound decides a live session without a binding: ccbot died between the intent to launch an
// agent and the binding. The window, if it was made, carries the record's tag.
func (p plan) unbound(r session.Record) (*Action, *Notice) {
	if p.launchedHere(r) {
		return nil, nil // this ccbot launches it now, or still looks for the window: nothing died
	}
	if pane, ok := p.launches[p.tag(r.ID)]; ok {
		return &Action{Do: Bind, Pane: pane, Why: "a window carries its tag", Evidence: describePane(pane)}, nil
	}
	const never = "its window was never made"
	const none = "no window with its tag holds its launch"
	switch {
	case r.State == session.Running && p.Survey.Writers == nil:
		return p.unknown(r, "it is bound to nothing, and who writes its conversation cannot be seen")
	case r.State == session.Running:
		return p.lost(r, "it is bound to nothing", none), nil
	case r.State == session.Starting:
		return &Action{Do: Discard, Why: never, Evidence: none}, nil
	case p.young(r.StartedAt):
		return &Action{Do: FinishRestore, Why: "it was asked for a moment ago, and " + never, Evidence: none}, nil
	}
	return &Action{Do: Fail, Why: never, Evidence: none}, nil
}

// there decides a session whose pane is there. If the agent is gone for the kernel and not yet for
// tmux, the session continues for now: tmux learns of an end a little later, and its dead pane then
// has the agent's exit status. The pane of an agent in a person's shell never dies with the agent.
func (p plan) there(r session.Record, pane tmux.Pane) *Action {
	ended := p.agent(r) == process.Gone && (pane.Dead || r.Binding.Shell != 0)
	switch {
	case p.Watched[r.ID]:
		return nil
	case ended:
		return &Action{Do: Conclude, Why: "its agent ended while ccbot was away",
			Evidence: describePane(pane) + ", " + describeAgent(*r.Binding)}
	}
	return &Action{Do: Reattach, Why: "its pane is there", Evidence: describePane(pane)}
}

// gone decides a session whose pane is proven gone, by what is known of its agent.
func (p plan) gone(r session.Record) (*Action, *Notice) {
	switch p.agent(r) {
	case process.Alive:
		return nil, &Notice{Kind: Unclear, Why: "its process lives without its pane"}
	case process.Unknown:
		return p.unknown(r, "it is not known whether its process lives")
	}
	a := p.lost(r, "its pane and its process are gone", p.describeGone(*r.Binding))
	a.Closed = p.closed(*r.Binding)
	return a, &Notice{Kind: StaleWindow, Window: r.Binding.Window, Why: "the window is gone"}
}

// agent returns the liveness of a session's agent. An agent that ended before it could be
// identified has no start time to look for: it is gone.
func (p plan) agent(r session.Record) process.Liveness {
	if !r.Agent().Valid() {
		return process.Gone
	}
	return p.Survey.Agents[r.ID]
}

// unknown leaves a session alone while it is unknown whether its agent lives. After too long
// without a sign of life the session is abandoned; no process is ended.
func (p plan) unknown(r session.Record, why string) (*Action, *Notice) {
	if silence, stale := p.Signs[r.ID].stale(p.Now, p.Limits.StaleRunning); stale && r.State == session.Running {
		return &Action{Do: Abandon, Why: silence, Evidence: why}, nil
	}
	return nil, &Notice{Kind: Unclear, Why: why}
}

// closed returns how a session was lost if more than its pane went down.
func (w World) closed(b session.Binding) string {
	switch {
	case b.Agent.Boot != "" && w.Boot != "" && !process.SameBoot(b.Agent.Boot, w.Boot):
		return session.ClosedReboot
	case w.sameServer(b) == process.No:
		return session.ClosedTmux
	}
	return ""
}

// lost decides a session that has no pane and no process: it continues in its heir, if it has one.
func (p plan) lost(r session.Record, why, seen string) *Action {
	w, ok := p.heir(r)
	if !ok {
		return &Action{Do: MarkLost, Why: why, Evidence: seen}
	}
	return &Action{Do: TakeOver, Agent: w.Identity, Pane: w.Pane, Claude: r.ClaudeSessionID,
		Why: "its agent is gone, and its conversation goes on in another window", Evidence: describeWriter(w)}
}

// heir returns the agent that continues the conversation of a running session elsewhere, if the
// session's own agent is proven gone. There is an heir only if this agent is the only process that
// writes the conversation, and the session the only owner.
func (p plan) heir(r session.Record) (w evidence.Writer, ok bool) {
	writers := p.Survey.Writers[r.ID]
	if r.State != session.Running || len(writers) != 1 || p.owners[r.ClaudeSessionID] != 1 {
		return w, false
	}
	w = writers[0]
	return w, objection(w, r.Seconds, p.Below[w.Identity]) == "" && !taken(p.Records, p.Server, p.Boot, w.Pane.Window, r)
}

// launchedHere reports whether this very ccbot has launched the session's agent. A launch that is
// dated in the future is of an earlier ccbot: the clock was set back since.
func (w World) launchedHere(r session.Record) bool {
	return !w.Since.IsZero() && r.StartedAt.After(w.Since) && !r.StartedAt.After(w.Now)
}

// young reports whether a time was a moment ago. A time in the future is not young: the clock was
// set back, and waiting until then might have no end.
func (p plan) young(at time.Time) bool {
	age := p.Now.Sub(at)
	return age >= 0 && age < p.Limits.OrphanGrace
}

// waits reports whether the next try is still to come. A time that is further off than any try is
// put off was written by a clock that was wrong.
func (p plan) waits(until time.Time) bool {
	left := until.Sub(p.Now)
	return left > 0 && left <= lifecycle.RetryMost
}
