package recovery

import (
	"maps"
	"slices"

	"github.com/google/uuid"

	"ccbot/internal/session"
	"ccbot/tmux"
)

// plan is a World with the indexes that its rules use.
type plan struct {
	World
	panes      map[paneKey]tmux.Pane
	launches   map[string]tmux.Pane    // key: tag; value: the pane of the last launch
	successors map[uuid.UUID]uuid.UUID // key: source; value: the record that took over
	owners     map[uuid.UUID]int       // key: conversation; value: how many sessions can be meant
}

// paneKey identifies the pane of a binding: the id alone may belong to another process by now.
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
	// Earlier launches may have left windows with the same tag: the last one counts. If it is
	// unknown what a window's pane holds, its first pane counts.
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

// ring says whether a record is its own successor in the end. Edited files may say so: then none of
// the records in the ring took over.
func ring(successors map[uuid.UUID]uuid.UUID, from, to uuid.UUID) bool {
	for range successors {
		if to == from {
			return true
		}
		to = successors[to]
	}
	return false
}

// pane looks for the pane of a binding; tmux must have answered. A pane with the same id on another
// server, or with another process, does not count.
func (p plan) pane(b session.Binding) (tmux.Pane, bool) {
	if !p.sameServer(b) {
		return tmux.Pane{}, false
	}
	pane, there := p.panes[paneKey{b.Pane, b.PanePID()}]
	return pane, there
}

// taken says whether a live session, other than those in beside, is bound to this window of the
// server.
func taken(records []session.Record, server tmux.ServerID, window tmux.WindowID, beside ...session.Record) bool {
	for _, r := range records {
		named := slices.ContainsFunc(beside, func(b session.Record) bool { return b.ID == r.ID })
		if !named && r.State.Live() && r.Binding != nil && SameServer(server, *r.Binding) && r.Binding.Window == window.String() {
			return true
		}
	}
	return false
}
