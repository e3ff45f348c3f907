package recovery

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/tmux"
)

// World is everything on which start-up decides.
type World struct {
	Now      time.Time
	Since    time.Time // when this ccbot became able to launch agents; zero: it only looks
	Instance string    // of this ccbot; windows with the tag of another instance are left to that instance
	Session  string    // ccbot's tmux session
	Boot     string    // the kernel's id of this boot
	Limits   Limits

	Records []session.Record
	Aside   []session.Aside // records that could not be read
	Signs   map[uuid.UUID]Sign

	Tmux    TmuxFate
	Server  tmux.ServerID
	Panes   []tmux.Pane            // of the whole server, valid with TmuxAnswers
	Ignored map[tmux.WindowID]bool // windows that a person does not want to be informed of
	// Holds says for each pane with the tag of an unbound session whether it holds the launch of
	// that session. Panes for which this cannot be seen are missing. The check is needed because a
	// pane that a person split off has the tag of its window too.
	Holds map[tmux.PaneID]bool

	Survey evidence.Survey           // which agents live, and which processes write which conversation
	Below  map[process.Identity]bool // writers that run below another agent

	// Watched are the records that were handed to the lifecycle already: from then on its steps
	// decide.
	Watched map[uuid.UUID]bool
}

// Limits says how long start-up waits before it gives up. 0 means never for the two limits of
// staleness, and no grace for OrphanGrace.
type Limits struct {
	StaleRunning time.Duration // for a running session of unknown fate without a sign of life
	ResumeStale  time.Duration // for one of several sessions whose conversation came back
	OrphanGrace  time.Duration // protects what was just started, or has just ended
}

// TmuxFate is what is known of the tmux server.
type TmuxFate int

const (
	TmuxUnknown TmuxFate = iota // tmux did not answer: nothing is decided from that
	TmuxAnswers
	TmuxAbsent // proven: no server listens
)

// tag is the mark that a record's windows carry.
func (w World) tag(id uuid.UUID) string { return w.Instance + "/" + id.String() }

// sameServer says whether the tmux server is still the one of a binding. Every new server starts
// its ids again.
func (w World) sameServer(b session.Binding) bool {
	return w.Tmux == TmuxAnswers && SameServer(w.Server, b)
}

// SameServer says whether a tmux server is that of a binding.
func SameServer(s tmux.ServerID, b session.Binding) bool {
	return s.PID == b.Server.PID && s.Start == b.Server.Start
}

// reserved says whether a window with this name is never an orphan.
func reserved(name string) bool { return name == "__main__" || name == "ccbot-usage" }

// Orphans returns the windows of ccbot's tmux session that no record is bound to, that no other
// instance has tagged and that no person ignores; for each window its first pane. A window with
// this instance's own tag is an orphan if its record is over or unknown. It is no orphan if its
// record was written by a newer ccbot, because that session may well live.
func (w World) Orphans() []tmux.Pane {
	live := make(map[string]bool)
	for _, r := range w.Records {
		live[w.tag(r.ID)] = r.State.Live()
	}
	for _, a := range w.Aside {
		live[w.tag(a.ID)] = a.Newer
	}
	bound := w.boundWindows()
	var orphans []tmux.Pane
	for _, p := range w.firstPanes() {
		foreign := p.Tag != "" && !strings.HasPrefix(p.Tag, w.Instance+"/")
		known := bound[p.Window.String()] || live[p.Tag] || w.Ignored[p.Window]
		if p.Session == w.Session && !reserved(p.WindowName) && !foreign && !known {
			orphans = append(orphans, p)
		}
	}
	return orphans
}

// boundWindows returns the windows of all bindings: those that the records name, and those that
// contain the bound panes by now.
func (w World) boundWindows() map[string]bool {
	bound, panes := make(map[string]bool), make(map[paneKey]bool)
	for _, r := range w.Records {
		if r.Binding != nil && w.sameServer(*r.Binding) {
			bound[r.Binding.Window] = true
			panes[paneKey{r.Binding.Pane, r.Binding.PanePID()}] = true
		}
	}
	for _, p := range w.Panes {
		if panes[paneKey{p.ID.String(), p.PID}] {
			bound[p.Window.String()] = true
		}
	}
	return bound
}

// firstPanes returns the oldest pane of each window, in the order of the windows: a pane that was
// split off later is not what the window was made for.
func (w World) firstPanes() []tmux.Pane {
	return slices.CompactFunc(w.sortedPanes(), func(a, b tmux.Pane) bool { return a.Window == b.Window })
}

// sortedPanes returns all panes, sorted by the age of their windows and then by their own age.
func (w World) sortedPanes() []tmux.Pane {
	return slices.SortedFunc(slices.Values(w.Panes), func(a, b tmux.Pane) int {
		return cmp.Or(compareIDs(a.Window.String(), b.Window.String()), compareIDs(a.ID.String(), b.ID.String()))
	})
}

// compareIDs compares two tmux ids of one kind; "%9" comes before "%10".
func compareIDs(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// isOwner says whether a conversation that comes back may belong to the record: the record has it
// now, and was not set aside for another.
func isOwner(r session.Record, claude uuid.UUID) bool {
	return r.ClaudeSessionID == claude && r.Owns()
}

// byPresence says whether Claude Code's own presence file says that the process writes the
// conversation. Only this proves an interactive agent: a `claude -p` has no presence file, and what
// a hook or a command line said may no longer be true.
func byPresence(w evidence.Writer) bool { return w.Proven && w.Source == process.SourcePresence }

// objection says why a process is not taken over without asking; empty means that it may be taken
// over.
func objection(w evidence.Writer, told []process.Identity, below bool) string {
	switch {
	case !byPresence(w):
		return "no presence file says that it has the conversation"
	case slices.Contains(told, w.Identity):
		return "it was told as a second writer"
	case below:
		return "it runs below another agent"
	case w.Spared != "":
		return "it is protected: " + w.Spared
	case !w.Adoptable():
		return "it runs in no window of ccbot's tmux server"
	}
	return ""
}
