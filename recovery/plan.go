package recovery

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/evidence"
	"ccbot/tmux"
)

// Do is what is done with one record.
type Do string

const (
	// What the lifecycle goes on with; its steps say in the history what they do.
	Reattach Do = "reattach" // its agent lives in its pane: watch it again

	// What was left half done.
	Bind       Do = "bind"        // its window was made, the crash came before the record knew
	FinishStop Do = "finish_stop" // an archive was interrupted
	Discard    Do = "discard"     // a start was interrupted before there was anything: its command comes again
	// FinishRestore is for a restore that was interrupted a moment ago, before there
	// was a window; Fail for one that nobody waits for any more.
	FinishRestore Do = "finish_restore"
	Fail          Do = "fail"
	TidyTransfer  Do = "tidy_transfer" // another record goes on with its conversation: close it

	// What happened while ccbot was away.
	Conclude     Do = "conclude"      // its agent ended by itself: read the exit, close the pane, tell
	MarkLost     Do = "mark_lost"     // pane and process are proven gone
	TakeOver     Do = "take_over"     // so they are, and its conversation goes on in another pane
	Abandon      Do = "abandon"       // nobody knows of its agent, and there was no sign of life for too long
	EndLeftovers Do = "end_leftovers" // it is over, and something of it still runs

	// What is not planned, but told in a Report: see ReconcileResume.
	SetAside Do = "set_aside" // its conversation came back, and it is too old to be meant
)

// Changes says whether the action itself changes a record. Then it stands in the
// record's history, before and after, and the records are backed up first.
func (d Do) Changes() bool { return d != Reattach }

// Action is one thing to do with one record.
type Action struct {
	Do     Do
	Record uuid.UUID
	Pane   tmux.Pane        // of Bind and TakeOver: where its agent runs
	Agent  process.Identity // of TakeOver: who becomes its agent
	Claude uuid.UUID        // of TakeOver: the conversation that the agent writes
	Target uuid.UUID        // of TidyTransfer: the record that took over
	Closed string           // of MarkLost and TakeOver: how it was lost, a session.Closed… reason or empty
	// Why is the rule in a sentence, Evidence what it was seen by.
	Why, Evidence string
}

// Notice is something to tell that changes nothing.
type Notice struct {
	Kind   NoticeKind
	Record uuid.UUID // Nil: of no record
	Pane   tmux.Pane // of OrphanWindow
	Window string    // of StaleWindow
	File   string    // of Newer and Unreadable
	Why    string
}

// NoticeKind says what a Notice tells.
type NoticeKind string

const (
	OrphanWindow NoticeKind = "orphan_window" // no record is bound to it, nobody tagged it
	StaleWindow  NoticeKind = "stale_window"  // a record's window is gone
	Unclear      NoticeKind = "unclear"       // it could not be found out what became of a record
	Pending      NoticeKind = "pending"       // what is left of a session is ended at another time
	Newer        NoticeKind = "newer"         // a record of a newer ccbot is left alone
	Unreadable   NoticeKind = "unreadable"    // a record could not be read and was set aside
)

// Plan decides start-up: at most one action for each record, and what is to be
// told. It is pure, it is total, and what it does not know it leaves alone.
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
			continue // it is a session's in a moment
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
	successor, moved := p.successors[r.ID]
	switch {
	case moved && !tidied(r) && p.closable(r):
		return &Action{Do: TidyTransfer, Target: successor, Why: "another record goes on with its conversation",
			Evidence: "session " + successor.String() + " says that it took over from it"}, nil
	case !r.State.Live():
		return p.over(r)
	case p.Tmux == TmuxUnknown:
		return nil, &Notice{Kind: Unclear, Why: "tmux did not answer"}
	case r.State == session.Stopping:
		return &Action{Do: FinishStop, Why: "an archive was interrupted", Evidence: "it is still stopping"}, nil
	case r.Binding == nil:
		return p.unbound(r)
	}
	if pane, there := p.pane(*r.Binding); there {
		return p.there(r, pane), nil
	}
	return p.gone(r)
}

// tidied says whether nothing of a transfer is left to do for its source.
func tidied(r session.Record) bool {
	return r.Closed == session.ClosedTransferred && !r.State.Live() &&
		r.Binding == nil && len(r.Prompts)+len(r.Cursors)+len(r.Seconds) == 0
}

// closable says whether nothing of a session can run any more.
func (p plan) closable(r session.Record) bool {
	return !r.State.Live() || r.State == session.Running && (r.Binding == nil || p.agent(r) == process.Gone)
}

// there decides a session whose pane is there. A process that is gone while its
// pane does not say so yet is not over: tmux learns of an end a little later than
// the kernel, and then the pane tells how it was. The pane of an agent in a
// person's shell never says so.
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

// gone decides a session whose pane is proven gone: by what is known of its
// process.
func (p plan) gone(r session.Record) (*Action, *Notice) {
	switch p.agent(r) {
	case process.Alive:
		return nil, &Notice{Kind: Unclear, Why: "its process lives without its pane"}
	case process.Unknown:
		return p.unknown(r, "it is not known whether its process lives")
	}
	a := &Action{Do: MarkLost, Why: "its pane and its process are gone", Evidence: p.describeGone(*r.Binding)}
	if w, ok := p.heir(r); ok {
		a = takeOver(r, w)
	}
	a.Closed = p.closed(*r.Binding)
	return a, &Notice{Kind: StaleWindow, Window: r.Binding.Window, Why: "the window is gone"}
}

// agent is what is known of the process of a session whose pane is gone. One
// that ended before it could be identified has no start time to look for.
func (p plan) agent(r session.Record) process.Liveness {
	if !r.Binding.Agent.Valid() {
		return process.Gone
	}
	return p.Survey.Agents[r.ID]
}

// unknown leaves a session alone of which nobody knows whether it runs, until
// there was no sign of life for so long that nobody can mean it any more. Nothing
// of it is ended.
func (p plan) unknown(r session.Record, why string) (*Action, *Notice) {
	if silence, stale := p.Signs[r.ID].stale(p.Now, p.Limits.StaleRunning); stale && r.State == session.Running {
		return &Action{Do: Abandon, Why: silence, Evidence: why}, nil
	}
	return nil, &Notice{Kind: Unclear, Why: why}
}

// closed says how a session was lost, where more went down than its pane.
func (w World) closed(b session.Binding) string {
	switch {
	case b.Agent.Boot != "" && w.Boot != "" && b.Agent.Boot != w.Boot:
		return session.ClosedReboot
	case !w.sameServer(b):
		return session.ClosedTmux
	}
	return ""
}

// heir is the agent that goes on elsewhere with the conversation of a running
// session whose own agent is proven gone. It must be the only one that writes it,
// and the session the only one that can be meant; else nothing moves.
func (p plan) heir(r session.Record) (w evidence.Writer, ok bool) {
	writers := p.Survey.Writers[r.ID]
	if r.State != session.Running || len(writers) != 1 || p.owners[r.ClaudeSessionID] != 1 {
		return w, false
	}
	w = writers[0]
	return w, objection(w, r.Seconds, p.Below[w.Identity]) == "" && !taken(p.Records, p.Server, w.Pane.Window, r)
}

func takeOver(r session.Record, w evidence.Writer) *Action {
	return &Action{Do: TakeOver, Agent: w.Identity, Pane: w.Pane, Claude: r.ClaudeSessionID,
		Why: "its agent is gone, and its conversation goes on in another window", Evidence: describeWriter(w)}
}

// unbound decides a session whose crash came between its intent and its binding.
// The window, if there is one, carries the record's tag.
func (p plan) unbound(r session.Record) (*Action, *Notice) {
	if p.launchedHere(r) {
		return nil, nil // at this moment, or it still looks for its window: no crash came between
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
		if w, ok := p.heir(r); ok {
			return takeOver(r, w), nil
		}
		return &Action{Do: MarkLost, Why: "it is bound to nothing", Evidence: none}, nil
	case r.State == session.Starting:
		return &Action{Do: Discard, Why: never, Evidence: none}, nil
	case p.young(r.StartedAt):
		return &Action{Do: FinishRestore, Why: "it was asked for a moment ago, and " + never, Evidence: none}, nil
	}
	return &Action{Do: Fail, Why: never, Evidence: none}, nil
}

// launchedHere says whether this very ccbot has launched the session's agent. What
// is in the future was launched before the clock was set back.
func (w World) launchedHere(r session.Record) bool {
	return !w.Since.IsZero() && r.StartedAt.After(w.Since) && !r.StartedAt.After(w.Now)
}

// young says whether something was just now. What is in the future is not: the
// clock was set, and the wait would have no end.
func (p plan) young(at time.Time) bool {
	age := p.Now.Sub(at)
	return age >= 0 && age < p.Limits.OrphanGrace
}

// waits says whether a time is still to come. One that is further off than any try
// is put off was written by a clock that was wrong.
func (p plan) waits(until time.Time) bool {
	left := until.Sub(p.Now)
	return left > 0 && left <= lifecycle.RetryMost
}

// over decides a session that has ended. Only what was ended on purpose has
// leftovers: who goes on with one that was lost may be a person at the desk.
func (p plan) over(r session.Record) (*Action, *Notice) {
	switch {
	case r.State == session.CleanupFailed:
		return nil, &Notice{Kind: Pending, Why: describePending(r)} // the lifecycle tries again
	case r.State != session.Archived && r.State != session.Completed, r.Closed == session.ClosedTransferred:
		return nil, nil
	}
	left := p.leftovers(r)
	switch {
	case len(left) == 0 || p.young(r.EndedAt):
		return nil, nil
	case r.Cleanup != nil && p.waits(r.Cleanup.NotBefore):
		return nil, &Notice{Kind: Pending, Why: describePending(r)}
	}
	return &Action{Do: EndLeftovers, Why: "it is over, and something of it still runs", Evidence: describeAll(left)}, nil
}

// leftovers are the processes of a session that is over that may be ended: each
// is proven to be its own, and nothing protects it.
func (p plan) leftovers(r session.Record) (left []evidence.Writer) {
	for _, w := range p.Survey.Writers[r.ID] {
		if w.Standing == evidence.Leftover && w.Endable() {
			left = append(left, w)
		}
	}
	return left
}
