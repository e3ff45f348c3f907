package recovery

import (
	"cmp"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/tmux"
)

// World is everything that start-up decides on.
type World struct {
	Now      time.Time
	Instance string // of this ccbot; windows tagged by another are its business
	Session  string // ccbot's tmux session
	Server   tmux.ServerID
	Tmux     TmuxFate
	Panes    []tmux.Pane                    // of the whole server, valid with TmuxAnswers
	Alive    map[uuid.UUID]process.Liveness // of each record's bound agent
	Records  []session.Record
	// Watched are the records whose agent was handed to the lifecycle already:
	// its steps decide from then on.
	Watched map[uuid.UUID]bool
}

// TmuxFate is what is known of the tmux server.
type TmuxFate int

const (
	TmuxUnknown TmuxFate = iota // it did not answer: nothing is decided on it
	TmuxAnswers
	TmuxAbsent // proven: no server listens
)

// Do is what is done with one record.
type Do string

const (
	Reattach   Do = "reattach"    // its agent lives in its pane: watch it again
	Bind       Do = "bind"        // its window was made, the crash came before the record knew
	Conclude   Do = "conclude"    // its pane is dead: read the exit, close it, tell
	MarkLost   Do = "mark_lost"   // pane and process are proven gone
	FinishStop Do = "finish_stop" // an archive was interrupted
	Discard    Do = "discard"     // a start was interrupted before there was anything: its command comes again
	Fail       Do = "fail"        // a restore was interrupted before there was a window
)

// Action is one thing to do with one record, and the evidence for it.
type Action struct {
	Do     Do
	Record uuid.UUID
	Pane   tmux.Pane // of Bind
	Why    string
}

// Notice is something to tell that changes nothing.
type Notice struct {
	Kind   NoticeKind
	Record uuid.UUID // of Unclear and StaleWindow
	Pane   tmux.Pane // of OrphanWindow
	Window string    // of StaleWindow
	Why    string
}

// NoticeKind says what a Notice tells.
type NoticeKind string

const (
	OrphanWindow NoticeKind = "orphan_window" // no record is bound to it, nobody tagged it
	StaleWindow  NoticeKind = "stale_window"  // a record's window is gone
	Unclear      NoticeKind = "unclear"       // it could not be found out what became of a record
)

// Plan decides start-up. It changes nothing and looks at nothing but w.
func Plan(w World) (actions []Action, notices []Notice) {
	for _, r := range w.Records {
		if !r.State.Live() {
			continue
		}
		a, n := w.plan(r)
		if a != nil {
			actions = append(actions, *a)
		}
		if n != nil {
			notices = append(notices, *n)
		}
	}
	for _, p := range w.Orphans() {
		notices = append(notices, Notice{Kind: OrphanWindow, Pane: p, Why: "no Session record references it"})
	}
	return actions, notices
}

// plan decides one live record: by its binding if it has one, else by the tag
// of the window that it may have made.
func (w World) plan(r session.Record) (*Action, *Notice) {
	switch {
	case w.Tmux == TmuxUnknown:
		return nil, &Notice{Kind: Unclear, Record: r.ID, Why: "tmux did not answer"}
	case r.State == session.Stopping:
		return &Action{Do: FinishStop, Record: r.ID, Why: "an archive was interrupted"}, nil
	case r.Binding == nil:
		return w.planUnbound(r)
	}
	if pane, there := w.find(*r.Binding); there {
		return w.planThere(r, pane), nil
	}
	switch w.agent(r) {
	case process.Gone:
		return &Action{Do: MarkLost, Record: r.ID, Why: "its pane and its process are gone"},
			&Notice{Kind: StaleWindow, Record: r.ID, Window: r.Binding.Window, Why: "the window is gone"}
	case process.Alive:
		return nil, &Notice{Kind: Unclear, Record: r.ID, Why: "its process lives without its pane"}
	}
	return nil, &Notice{Kind: Unclear, Record: r.ID, Why: "it is not known whether its process lives"}
}

// planThere hands a session whose pane is there to the lifecycle. A process that
// is gone while its pane does not say so yet is not lost: tmux learns of an end
// a little later than the kernel, and then the pane tells how it was.
func (w World) planThere(r session.Record, pane tmux.Pane) *Action {
	switch {
	case w.Watched[r.ID]:
		return nil
	case pane.Dead:
		return &Action{Do: Conclude, Record: r.ID, Why: "its process ended while ccbot was away"}
	}
	return &Action{Do: Reattach, Record: r.ID, Why: "its pane is there"}
}

// agent is what is known of the process of a session whose pane is gone. One
// that ended before it could be identified has no start time to look for.
func (w World) agent(r session.Record) process.Liveness {
	if !r.Binding.Agent.Valid() {
		return process.Gone
	}
	return w.Alive[r.ID]
}

// planUnbound decides a record whose crash came between its intent and its
// binding. The window, if there is one, carries the record's tag.
func (w World) planUnbound(r session.Record) (*Action, *Notice) {
	if p, ok := w.tagged(r.ID); ok {
		return &Action{Do: Bind, Record: r.ID, Pane: p, Why: "a window carries its tag"}, nil
	}
	if r.State == session.Running {
		return &Action{Do: MarkLost, Record: r.ID, Why: "it is bound to nothing and no window carries its tag"}, nil
	}
	if r.State == session.Starting {
		return &Action{Do: Discard, Record: r.ID, Why: "its window was never made"}, nil
	}
	return &Action{Do: Fail, Record: r.ID, Why: "its window was never made"}, nil
}

// tagged finds the pane of a record's last launch. Earlier launches may have
// left a window with the same tag, and a pane that a person split off has the
// tag of its window: the newest window counts, and in it the oldest pane.
func (w World) tagged(id uuid.UUID) (found tmux.Pane, ok bool) {
	for _, p := range w.Panes {
		if p.Tag != w.Instance+"/"+id.String() {
			continue
		}
		newer := compareIDs(p.Window.String(), found.Window.String())
		if !ok || newer > 0 || newer == 0 && compareIDs(p.ID.String(), found.ID.String()) < 0 {
			found, ok = p, true
		}
	}
	return found, ok
}

// compareIDs compares two of tmux's ids of one kind, "%9" before "%10".
func compareIDs(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// find looks for a binding's pane; tmux has answered. Ids start again with every tmux server, so
// another server's pane of the same id is not it; nor is one with another
// process.
func (w World) find(b session.Binding) (p tmux.Pane, there bool) {
	if w.Tmux == TmuxAbsent || w.Server.PID != b.Server.PID || w.Server.Start != b.Server.Start {
		return tmux.Pane{}, false
	}
	for _, p := range w.Panes {
		if p.ID.String() == b.Pane && p.PID == b.PanePID() {
			return p, true
		}
	}
	return tmux.Pane{}, false
}

// Reserved says whether a window name is never an orphan.
func Reserved(name string) bool { return name == "__main__" || name == "ccbot-usage" }

// Orphans are the windows of ccbot's tmux session that no record is bound to
// and that nobody has tagged, one pane each. A window with this instance's own
// tag is an orphan only if its record is not live any more or unknown.
func (w World) Orphans() []tmux.Pane {
	bound := make(map[string]bool)
	live := make(map[string]bool)
	for _, r := range w.Records {
		if b := r.Binding; b != nil && b.Server.PID == w.Server.PID && b.Server.Start == w.Server.Start {
			bound[b.Window] = true
		}
		live[w.Instance+"/"+r.ID.String()] = r.State.Live()
	}
	seen := make(map[tmux.WindowID]bool)
	var orphans []tmux.Pane
	for _, p := range w.Panes {
		foreign := p.Tag != "" && !strings.HasPrefix(p.Tag, w.Instance+"/")
		if p.Session != w.Session || Reserved(p.WindowName) || foreign || seen[p.Window] {
			continue
		}
		seen[p.Window] = true
		if !bound[p.Window.String()] && !live[p.Tag] {
			orphans = append(orphans, p)
		}
	}
	return orphans
}
