package recovery

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/logkey"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/view"
	"ccbot/tmux"
)

// World is everything on which start-up decides.
type World struct {
	Now   time.Time
	Since time.Time // when this ccbot became able to launch agents; zero: it only looks
	// Of this ccbot; windows with the tag of another instance are left to that instance.
	Instance string
	Session  string // ccbot's tmux session
	Boot     string // the kernel's id of this boot
	Limits   Limits

	Records  []session.Record
	Unloaded []session.Unloaded // records that could not be read
	Signs    map[uuid.UUID]Sign

	Tmux    TmuxFate
	Server  tmux.ServerID
	Servers map[process.Identity]process.Liveness // the tmux servers of the records' bindings
	Panes   []tmux.Pane                           // of the whole server, valid with TmuxAnswers
	// Windows that a person does not want to be informed of.
	Ignored map[tmux.WindowID]bool
	// Holds reports for each pane with the tag of an unbound session whether it holds the launch of
	// that session. Panes for which this cannot be seen are missing. The check is needed because a
	// pane that a person split off has the tag of its window too.
	Holds map[tmux.PaneID]bool

	Survey evidence.Survey           // which agents live, and which processes write which conversation
	Nested map[process.Identity]bool // writers that run below another agent

	// Unread are the records whose transcript is left unread, because its read has ended ccbot.
	Unread map[uuid.UUID]bool

	// Watched are the records that were handed to the lifecycle already: from then on its steps
	// decide.
	Watched map[uuid.UUID]bool
}

// Limits holds how long start-up waits before it gives up. 0 means never for the two limits of
// staleness, and no grace for OrphanGrace.
type Limits struct {
	StaleRunning time.Duration // for a running session of unknown fate without a sign of life
	ResumeStale  time.Duration // for one of several sessions whose conversation came back
	OrphanGrace  time.Duration // protects what was just started, or has just ended
}

// TmuxFate is the known state of the tmux server.
type TmuxFate int

const (
	TmuxUnknown TmuxFate = iota // tmux did not answer: nothing is decided from that
	TmuxAnswers
	TmuxAbsent // proven: no server listens
)

// tag is the mark that a record's windows carry.
func (w World) tag(id uuid.UUID) string { return w.Instance + "/" + id.String() }

// sameServer reports whether the tmux server is still the binding's, as view.SameServer does.
func (w World) sameServer(b session.Binding) process.Answer {
	if w.Tmux != TmuxAnswers {
		return process.No
	}
	return view.SameServer(w.Server, w.Boot, b)
}

// serverGone reports whether a binding's tmux server is proven to have ended. A missing socket
// proves nothing, and neither does another server that listens on it.
func (w World) serverGone(b session.Binding) bool {
	return w.Servers[view.ServerOf(b, w.Boot)] == process.Gone
}

// reserved reports whether a window is never an orphan, because of its name. A placeholder closes
// by itself, unless it is dead.
func reserved(p tmux.Pane) bool {
	return p.WindowName == "__main__" || p.WindowName == "ccbot-usage" || tmux.IsPlaceholder(p)
}

// Orphans returns the windows of ccbot's tmux session that no record is bound to, that no other
// instance has tagged and that no person ignores; for each window its first pane. A window with
// this instance's own tag is an orphan if its record has ended or is unknown.
func (w World) Orphans() []tmux.Pane {
	live := make(map[string]bool)
	for _, r := range w.Records {
		live[w.tag(r.ID)] = r.State.Live()
	}
	bound := w.boundWindows()
	var orphans []tmux.Pane
	for _, p := range w.firstPanes() {
		foreign := p.Tag != "" && !strings.HasPrefix(p.Tag, w.Instance+"/")
		known := bound[p.Window.String()] || live[p.Tag] || w.Ignored[p.Window]
		if p.Session == w.Session && !reserved(p) && !foreign && !known {
			orphans = append(orphans, p)
		}
	}
	return orphans
}

// boundWindows returns the windows of all bindings: those that the records name, and those that now
// contain the bound panes.
func (w World) boundWindows() map[string]bool {
	bound, panes := make(map[string]bool), make(map[paneKey]bool)
	for _, r := range w.Records {
		if r.Binding != nil && w.sameServer(*r.Binding) != process.No {
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
	return slices.CompactFunc(tmux.OldestFirst(w.Panes), func(a, b tmux.Pane) bool { return a.Window == b.Window })
}

// isOwner reports whether a conversation that comes back may belong to the record: the record has
// it now, and was not set aside for another.
func isOwner(r session.Record, conversation uuid.UUID) bool {
	return r.AgentSessionID == conversation && r.Owns()
}

// byPresence reports whether the agent's own presence file says that the process writes the
// conversation. Only this proves an interactive agent: an agent that prints one answer has none,
// and what a hook or a command line said may no longer be true.
func byPresence(w evidence.Writer) bool { return w.Proven && w.Source == process.SourcePresence }

// objection returns why a process is not taken over without a question; empty means that it may be
// taken over.
func objection(w evidence.Writer, reported []process.Identity, nested bool) string {
	switch {
	case !byPresence(w):
		return "no presence file says that it has the conversation"
	case slices.Contains(reported, w.Identity):
		return "it was reported as a second writer"
	case nested:
		return "it runs below another agent"
	case w.Spared != "":
		return "it is protected: " + w.Spared
	case !w.Adoptable():
		return "it runs in no window of ccbot's tmux server"
	}
	return ""
}

// plan is a World with the indexes that its rules use.
type plan struct {
	World
	panes  map[paneKey]tmux.Pane
	tagged map[string][]tmux.Pane // key: tag
	owners map[uuid.UUID]int      // key: conversation; value: the number of its possible sessions
}

// paneKey identifies the pane of a binding: the id alone may now belong to another process.
type paneKey struct {
	id  string
	pid int
}

func index(w World) plan {
	p := plan{World: w, panes: make(map[paneKey]tmux.Pane), tagged: make(map[string][]tmux.Pane),
		owners: make(map[uuid.UUID]int)}
	for _, pane := range w.Panes {
		p.panes[paneKey{pane.ID.String(), pane.PID}] = pane
		p.tagged[pane.Tag] = append(p.tagged[pane.Tag], pane)
	}
	for _, r := range w.Records {
		if isOwner(r, r.AgentSessionID) {
			p.owners[r.AgentSessionID]++
		}
	}
	return p
}

// facts returns what decides about a live session, and its pane: the bound one, or the one that
// holds its launch.
func (p plan) facts(r session.Record) (f lifecycle.Facts, pane tmux.Pane) {
	f = lifecycle.Facts{Now: p.Now, Grace: p.Limits.OrphanGrace, Start: true, Agent: p.agent(r), Half: p.Survey.Halves[r.ID], Fate: view.PaneGone}
	if r.Binding != nil {
		f.Fate, pane = p.fate(*r.Binding)
		return f, pane
	}
	pane, there := lifecycle.LaunchPane(p.tagged[p.tag(r.ID)], p.Holds)
	if there {
		f.Fate = view.PaneOurs
	}
	if p.Survey.Writers == nil {
		f.Agent = process.Unknown // it may run elsewhere
	}
	return f, pane
}

// fate returns the fate of a bound pane, and the pane if it is the binding's.
func (p plan) fate(b session.Binding) (view.PaneFate, tmux.Pane) {
	var found *tmux.Pane
	if pane, there := p.panes[paneKey{b.Pane, b.PanePID()}]; there {
		found = &pane
	}
	fate := view.FateOf(b, p.sameServer(b), p.serverGone(b), found)
	if fate != view.PaneOurs && fate != view.PaneDead {
		return fate, tmux.Pane{}
	}
	return fate, *found
}

// agent returns the liveness of a session's agent. An agent that ended before it could be
// identified has no start time to look for: it is gone.
func (p plan) agent(r session.Record) process.Liveness {
	if !r.Agent().Valid() {
		return process.Gone
	}
	return p.Survey.Agents[r.ID]
}

// launchedHere reports whether this very ccbot has launched the session's agent. A launch that is
// dated in the future is of an earlier ccbot: the clock was set back since.
func (w World) launchedHere(r session.Record) bool {
	return !w.Since.IsZero() && r.StartedAt.After(w.Since) && !r.StartedAt.After(w.Now)
}

// taken reports whether a live session except those in beside is bound to this window of the
// server.
func taken(records []session.Record, server tmux.ServerID, boot string, window tmux.WindowID, beside ...session.Record) bool {
	for _, r := range records {
		named := slices.ContainsFunc(beside, func(b session.Record) bool { return b.ID == r.ID })
		if !named && r.State.Live() && r.Binding != nil && view.SameServer(server, boot, *r.Binding) != process.No && r.Binding.Window == window.String() {
			return true
		}
	}
	return false
}

// Collect collects the world and changes nothing. It lists tmux and the processes once each. The
// panes are read before the records: the record of a window that a start makes at the same time is
// then already there. The other way round, such a window would look like an orphan.
func (v *Recovery) Collect(ctx context.Context) World {
	w := v.windowWorld(ctx)
	w.Limits = v.Limits
	w.Since, w.Signs = v.Since, signs(w.Records)
	w.Holds = v.holds(w)
	var err error
	if w.Survey, err = v.Evidence.Survey(ctx, w.Records); err != nil {
		v.Log.Warn("writers_unclear", logkey.Error, err)
	}
	w.Nested = v.nestedWriters(ctx, w.Survey)
	v.mu.Lock()
	defer v.mu.Unlock()
	w.Watched, w.Unread = make(map[uuid.UUID]bool), make(map[uuid.UUID]bool)
	for _, r := range w.Records {
		// Handed to the lifecycle, or launched by it.
		w.Watched[r.ID] = v.watched[r.ID] || w.launchedHere(r)
		w.Unread[r.ID] = v.Unread != nil && v.Unread(r)
	}
	return w
}

// windowWorld collects the part of the world that is about windows.
func (v *Recovery) windowWorld(ctx context.Context) World {
	w := World{Now: v.Now(), Instance: v.Instance, Session: v.Session, Boot: v.Processes.Self().Boot}
	var err error
	w.Server, w.Panes, err = v.panes(ctx)
	switch {
	case err == nil:
		w.Tmux = TmuxAnswers
	case errors.Is(err, tmux.ErrNoServer):
		w.Tmux = TmuxAbsent
	default:
		v.Log.Warn("tmux_unclear", logkey.Error, err)
	}
	w.Records, w.Unloaded = v.Store.Shared(), v.Store.Unloaded()
	w.Ignored = v.ignored(w.Server, w.Panes)
	w.Servers = make(map[process.Identity]process.Liveness)
	for _, r := range w.Records {
		if r.Binding != nil {
			server := view.ServerOf(*r.Binding, w.Boot)
			w.Servers[server] = v.Processes.Liveness(server)
		}
	}
	return w
}

func (v *Recovery) panes(ctx context.Context) (tmux.ServerID, []tmux.Pane, error) {
	server, err := v.Tmux.Server(ctx)
	if err != nil {
		return tmux.ServerID{}, nil, err
	}
	panes, err := v.Tmux.Panes(ctx)
	return server, panes, err
}

// holds checks for the panes with the tag of an unbound session whether they hold its launch.
func (v *Recovery) holds(w World) map[tmux.PaneID]bool {
	unbound := make(map[string]session.Record)
	for _, r := range w.Records {
		if r.State.Live() && r.Binding == nil {
			unbound[w.tag(r.ID)] = r
		}
	}
	holds := make(map[tmux.PaneID]bool)
	for _, pane := range w.Panes {
		r, ours := unbound[pane.Tag]
		if !ours {
			continue
		}
		if p, err := v.Processes.Inspect(pane.PID); err == nil {
			holds[pane.ID] = v.Evidence.StartedFor(r, p)
		}
	}
	return holds
}

// signs returns the newest sign of life of each record. The transcript counts only for a session
// that may be running, because after its end another process may continue the conversation.
func signs(records []session.Record) map[uuid.UUID]Sign {
	all := make(map[uuid.UUID]Sign, len(records))
	for _, r := range records {
		s := signOf(r)
		if c, ok := r.Cursor(); ok && r.State.Live() {
			if info, err := os.Stat(c.Path); err == nil {
				s.newer(info.ModTime(), "transcript")
			}
		}
		all[r.ID] = s
	}
	return all
}

// nestedWriters finds out which of the writers that could be taken over run below another agent. If
// this is unknown, a writer counts as running below one, so that it stays in place.
func (v *Recovery) nestedWriters(ctx context.Context, s evidence.Survey) map[process.Identity]bool {
	found := make(map[process.Identity]bool)
	for _, writers := range s.Writers {
		for _, w := range writers {
			if _, known := found[w.Identity]; !known && w.Adoptable() {
				below, err := v.Evidence.RunsBelowAgent(ctx, w.Identity)
				found[w.Identity] = below || err != nil
			}
		}
	}
	return found
}
