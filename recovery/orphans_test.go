package recovery

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/tmux"
)

func TestP2_OrphansAreOnlyTold(t *testing.T) {
	live, over := record(session.Running, binding(1)), record(session.Archived, nil)
	failed := record(session.CleanupFailed, binding(2))
	unbound, broken := record(session.Starting, nil), record("", nil)
	name := func(n string) func(*tmux.Pane) { return func(p *tmux.Pane) { p.WindowName = n } }
	tests := []struct {
		name   string
		pane   tmux.Pane
		orphan bool
	}{
		{"nobody's", pane(7), true},
		{"ours by its tag, its record is over", pane(7, tagged(tagOf(over))), true},
		{"ours by its tag, no record", pane(7, tagged(instance+"/"+uuid.NewString())), true},
		{"ours by its tag, the tag is odd", pane(7, tagged(instance+"/")), true},
		{"ours by its tag, its record cannot be read", pane(7, tagged(tagOf(broken))), true},
		{"ignored", pane(8), false},
		{"a bound pane that a person has moved", pane(1, func(p *tmux.Pane) { p.Window = windowID(9) }), false},
		{"bound to a live record", pane(1, tagged(tagOf(live))), false},
		{"bound, its tag was taken off", pane(1), false},
		{"bound to a record whose clean-up failed", pane(2, tagged(tagOf(failed))), false},
		{"of a launch not bound yet", pane(7, tagged(tagOf(unbound))), false},
		{"of another instance", pane(7, tagged("other/"+over.ID.String())), false},
		{"of another instance whose name begins like ours", pane(7, tagged(instance+"9/"+over.ID.String())), false},
		{"__main__", pane(7, name("__main__")), false},
		{"ccbot-usage", pane(7, name("ccbot-usage")), false},
		{"in another tmux session", pane(7, func(p *tmux.Pane) { p.Session = "work" }), false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			w := world(live, process.Alive, pane(1, tagged(tagOf(live))))
			w.Records = []session.Record{live, over, failed}
			if tc.name == "of a launch not bound yet" {
				w.Records = append(w.Records, unbound)
			}
			w.Unloaded = []session.Unloaded{{ID: broken.ID}}
			w.Ignored = map[tmux.WindowID]bool{windowID(8): true}
			before, _ := Plan(w)
			if tc.pane.ID != w.Panes[0].ID {
				w.Panes = append(w.Panes, tc.pane)
			} else {
				w.Panes = []tmux.Pane{tc.pane}
			}
			actions, notices := Plan(w)
			var reported []Notice
			for _, n := range notices {
				if n.Kind == OrphanWindow {
					reported = append(reported, n)
				}
			}
			if !tc.orphan {
				assert.Empty(t, reported)
				return
			}
			require.Len(t, reported, 1)
			assert.Equal(t, Notice{Kind: OrphanWindow, Pane: tc.pane, Why: "no Session record references it"}, reported[0])
			assert.Equal(t, before, actions, "an orphan leads to no action")
		})
	}
}

func TestP2_OrphanWindowIsReportedOnce(t *testing.T) {
	split := pane(8, func(p *tmux.Pane) { p.Window = windowID(7) })
	w := world(record(session.Archived, nil), process.Unknown, pane(7), split, pane(9))
	orphans := w.Orphans()
	require.Len(t, orphans, 2)
	assert.Equal(t, []tmux.WindowID{windowID(7), windowID(9)}, []tmux.WindowID{orphans[0].Window, orphans[1].Window})
}

// A placeholder closes by itself. An agent that a crash has kept from its window's name, and whose
// record is gone, is shown to people.
func TestP2_UnnamedAgentIsOrphan(t *testing.T) {
	unnamed := func(command string) tmux.Pane {
		return pane(7, func(p *tmux.Pane) { p.WindowName, p.Command = tmux.PlaceholderName, command })
	}
	r := record(session.Archived, nil)
	assert.Empty(t, world(r, process.Unknown, unnamed("sleep")).Orphans())
	assert.Len(t, world(r, process.Unknown, unnamed("claude")).Orphans(), 1)
}

// Ids of a server that is gone bind nothing in the next one.
func TestP2_ForeignBindingHidesNoOrphan(t *testing.T) {
	w := world(record(session.CleanupFailed, binding(7)), process.Unknown, pane(7))
	assert.Empty(t, w.Orphans())
	w.Server.Start++
	assert.Len(t, w.Orphans(), 1)
}
