package recovery

import (
	"maps"
	"slices"

	"github.com/google/uuid"

	"ccbot/internal/session"
	"ccbot/tmux"
)

// plan is a World with what its rules look up.
type plan struct {
	World
	panes      map[paneKey]tmux.Pane
	launches   map[string]tmux.Pane    // by tag: the pane of the last launch
	successors map[uuid.UUID]uuid.UUID // by source: who took over
	owners     map[uuid.UUID]int       // by conversation: the sessions that can be meant
}

// paneKey is how a binding knows its pane: an id may have another process by now.
type paneKey struct {
	id  string
	pid int
}

func index(w World) plan {
	p := plan{World: w, panes: make(map[paneKey]tmux.Pane), launches: make(map[string]tmux.Pane),
		successors: make(map[uuid.UUID]uuid.UUID), owners: make(map[uuid.UUID]int)}
	for _, pane := range w.Panes {
		p.panes[paneKey{pane.ID.String(), pane.PID}] = pane
	}
	// Earlier launches may have left windows with the same tag: the last one counts. Where
	// nobody sees what a pane holds the first one of a window does.
	for _, pane := range w.firstPanes() {
		if _, seen := w.Holds[pane.ID]; !seen {
			p.launches[pane.Tag] = pane
		}
	}
	for _, pane := range w.sortedPanes() {
		if w.Holds[pane.ID] {
			p.launches[pane.Tag] = pane
		}
	}
	for _, r := range w.Records {
		if r.TookOver != uuid.Nil && r.TookOver != r.ID {
			p.successors[r.TookOver] = r.ID
		}
		if isOwner(r, r.ClaudeSessionID) {
			p.owners[r.ClaudeSessionID]++
		}
	}
	all := maps.Clone(p.successors)
	maps.DeleteFunc(p.successors, func(from, to uuid.UUID) bool { return ring(all, from, to) })
	return p
}

// ring says whether a record is its own successor in the end, as files that were
// edited may say: then none of them took over.
func ring(successors map[uuid.UUID]uuid.UUID, from, to uuid.UUID) bool {
	for range successors {
		if to == from {
			return true
		}
		to = successors[to]
	}
	return false
}

// pane looks for a binding's pane; tmux has answered. Another server's pane of
// the same id is not it, nor is one with another process.
func (p plan) pane(b session.Binding) (tmux.Pane, bool) {
	if !p.sameServer(b) {
		return tmux.Pane{}, false
	}
	pane, there := p.panes[paneKey{b.Pane, b.PanePID()}]
	return pane, there
}

// taken says whether a live session beside those named is bound to a window of a
// server.
func taken(records []session.Record, server tmux.ServerID, window tmux.WindowID, beside ...session.Record) bool {
	for _, r := range records {
		named := slices.ContainsFunc(beside, func(b session.Record) bool { return b.ID == r.ID })
		if !named && r.State.Live() && r.Binding != nil && sameServer(server, *r.Binding) && r.Binding.Window == window.String() {
			return true
		}
	}
	return false
}
