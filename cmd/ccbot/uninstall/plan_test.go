package uninstall

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/host/received"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/session/sessiontest"
	"ccbot/lifecycle/evidence"
	"ccbot/recovery"
	"ccbot/tmux"
)

// whole is a machine on which nothing is removed yet, and no agent runs.
func whole(change ...func(*World)) World {
	w := World{Dir: "/home/me/.ccbot", Bot: 7, Unit: "/unit", Hooks: []string{"SessionStart"}, HooksFile: "/settings.json",
		TmuxSession: "ccbot", Sleepers: []tmux.Pane{{}}, Control: "ccbot-ctl-1", Boxes: []received.Box{{Dir: "/src", Recorded: 1}},
		Completions: []string{"/completion"}, Known: []string{"backups", "quarantine", "sessions", "ccbot.env", "ccbot.lock"}}
	for _, one := range change {
		one(&w)
	}
	return w
}

func open(w *World) {
	w.Sessions = []Session{{Name: "api", State: session.Running, Agent: process.Alive}}
}

func stopped(w *World) { w.Bot, w.Unit = 0, "" }

// taken returns the steps that may be taken, and those that are kept.
func taken(w World) (may, kept []Do) {
	for _, s := range Plan(w) {
		if s.Kept == "" {
			may = append(may, s.Do)
		} else {
			kept = append(kept, s.Do)
		}
	}
	return may, kept
}

func TestP2_PlanKeepsStateForAgents(t *testing.T) {
	rest := []Do{RemoveHooks, CloseTmux, ClearInboxes, RemoveState}
	tests := []struct {
		name      string
		w         World
		may, kept []Do
	}{
		{"an agent lives", whole(open), []Do{EndAgents, StopBot, RemoveCompletions}, rest},
		{"an agent lives, and the bot is stopped", whole(open, stopped), []Do{EndAgents, RemoveCompletions}, rest},
		{"an end is not proven", whole(stopped, func(w *World) { w.Doubts = []string{"x"} }), []Do{RemoveCompletions}, rest},
		{"the bot runs", whole(), []Do{StopBot, RemoveCompletions}, rest},
		{"the service would start it", whole(stopped, func(w *World) { w.Unit = "/unit" }), []Do{StopBot, RemoveCompletions}, rest},
		{"no agent, no bot", whole(stopped), []Do{RemoveHooks, CloseTmux, ClearInboxes, RemoveCompletions}, []Do{RemoveState}},
		{"no hooks", whole(stopped, func(w *World) { w.Hooks = nil }), []Do{CloseTmux, ClearInboxes, RemoveCompletions, RemoveState}, nil},
		{"hooks that cannot be removed", whole(stopped, func(w *World) { w.HooksErr = "x" }), []Do{CloseTmux, ClearInboxes, RemoveCompletions}, []Do{RemoveHooks, RemoveState}},
		{"settings that cannot be read", World{Dir: "/d", HooksFile: "/s", HooksErr: "x", Known: []string{"format"}}, nil, []Do{RemoveHooks, RemoveState}},
		{"a link", World{Dir: "/d", LinkTo: "/e", Known: []string{"format"}}, nil, []Do{RemoveState}},
		{"files of a person", World{Dir: "/d", Unknown: []string{"notes"}, Boxes: []received.Box{{Dir: "/src", Others: []string{"mine"}}}}, nil, nil},
		{"only the control session", World{Dir: "/d", Control: "ccbot-ctl-1"}, []Do{CloseTmux}, nil},
		{"an empty inbox", World{Boxes: []received.Box{{Dir: "/src"}}}, []Do{ClearInboxes}, nil},
		{"nothing", World{Dir: "/d"}, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			may, kept := taken(tt.w)
			assert.Equal(t, tt.may, may)
			assert.Equal(t, tt.kept, kept)
		})
	}
}

func TestPlanAsksForStateByName(t *testing.T) {
	question := func(w World) string {
		steps := Plan(w)
		require.Equal(t, RemoveState, steps[len(steps)-1].Do, "it is the last step")
		return steps[len(steps)-1].Question
	}
	assert.Equal(t, "Delete the state folder /home/me/.ccbot with its ccbot.env, backups/, quarantine/? This cannot be undone.", question(whole()))
	assert.Equal(t, "Delete the state folder /d, and 1 accepted message not finished, 2 messages not sent, 0 sessions with an answer that is not sent? "+
		"This cannot be undone.", question(World{Dir: "/d", Known: []string{"format"}, Messages: 1, Posts: 2}))
}

// seen is a machine as recovery sees it: tmux answers, and no process writes a conversation.
func seen(records ...session.Record) recovery.World {
	return recovery.World{Instance: "0123", Session: "ccbot", Tmux: recovery.TmuxAnswers, Records: records,
		Survey: evidence.Survey{Agents: map[uuid.UUID]process.Liveness{}, Writers: map[uuid.UUID][]evidence.Writer{}}}
}

// TestP6_EndsMustBeProven, each by what would show that an agent lives.
func TestP6_EndsMustBeProven(t *testing.T) {
	bound := func(r *session.Record) {
		r.Binding = &session.Binding{Agent: process.Identity{PID: 4, Start: 5, Boot: "b"}}
	}
	over, adopted := sessiontest.Over(1, "api"), sessiontest.Over(2, "web", bound)
	tests := []struct {
		name  string
		world func() recovery.World
		open  int
		doubt string // part of the only one; empty: none
	}{
		{"all are over", func() recovery.World { return seen(over) }, 0, ""},
		{"one is open", func() recovery.World {
			return seen(over, sessiontest.Over(3, "x", func(r *session.Record) { r.State = session.Running }))
		}, 1, ""},
		{"one could not be cleaned up", func() recovery.World {
			return seen(sessiontest.Over(3, "x", func(r *session.Record) { r.State = session.CleanupFailed }))
		}, 1, ""},
		{"tmux hangs", func() recovery.World { w := seen(); w.Tmux = recovery.TmuxUnknown; return w }, 0, "tmux does not answer"},
		{"no server", func() recovery.World { w := seen(over); w.Tmux = recovery.TmuxAbsent; return w }, 0, ""},
		{"writers cannot be seen", func() recovery.World { w := seen(over); w.Survey.Writers = nil; return w }, 0, "it cannot be seen"},
		{"its agent is not known", func() recovery.World { return seen(adopted) }, 0, "process 4"},
		{"its agent lives", func() recovery.World { w := seen(adopted); w.Survey.Agents[adopted.ID] = process.Alive; return w }, 0, "process 4"},
		{"its agent is gone", func() recovery.World { w := seen(adopted); w.Survey.Agents[adopted.ID] = process.Gone; return w }, 0, ""},
		{"something is left over", func() recovery.World {
			w := seen(over)
			w.Survey.Writers[over.ID] = []evidence.Writer{{Standing: evidence.Second}, {Standing: evidence.Leftover, Process: process.Process{Identity: process.Identity{PID: 9}}}}
			return w
		}, 0, "process 9 of it runs"},
		{"a record cannot be read", func() recovery.World {
			w := seen()
			w.Unloaded = []session.Unloaded{{ID: over.ID, File: "x.json", Why: "it is torn"}}
			return w
		}, 0, "x.json cannot be read"},
		{"a window without a record", func() recovery.World {
			w := seen()
			w.Panes = []tmux.Pane{{Tag: "0123/" + over.ID.String()}}
			return w
		}, 0, "without a record"},
		{"windows of another ccbot, of a dead agent, of a record, of nobody", func() recovery.World {
			w := seen(over)
			w.Panes = []tmux.Pane{{Tag: "9999/" + adopted.ID.String()}, {Tag: "0123/" + adopted.ID.String(), Dead: true}, {Tag: "0123/" + over.ID.String()}, {}}
			return w
		}, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			open, doubts := unendedIn(tt.world())
			assert.Len(t, open, tt.open)
			if tt.doubt == "" {
				assert.Empty(t, doubts)
				return
			}
			require.Len(t, doubts, 1)
			assert.Contains(t, doubts[0], tt.doubt)
		})
	}
}

// TestP2_SharedTmuxSessionStays: another ccbot may have the same tmux session.
func TestP2_SharedTmuxSessionStays(t *testing.T) {
	sleeper := tmux.Pane{Session: "ccbot", WindowName: "__main__", PID: 1}
	control := tmux.Pane{Session: "ccbot-ctl-0123", WindowName: "__main__", PID: 2}
	args := func(pid int) []string {
		return strings.Fields(map[int]string{1: "sleep 2147483647", 2: "sleep 2147483647", 3: "vim"}[pid])
	}
	tests := []struct {
		name     string
		panes    []tmux.Pane
		sleepers int
		control  string
	}{
		{"its own", []tmux.Pane{sleeper, control}, 1, "ccbot-ctl-0123"},
		{"another one is connected", []tmux.Pane{sleeper, control, {Session: "ccbot-ctl-9999"}}, 0, "ccbot-ctl-0123"},
		{"another one has a window there", []tmux.Pane{sleeper, {Session: "ccbot", Tag: "9999/x"}}, 0, ""},
		{"another one has a window elsewhere", []tmux.Pane{sleeper, {Session: "mine", Tag: "9999/x"}}, 1, ""},
		{"a person has used the name", []tmux.Pane{{Session: "ccbot", WindowName: "__main__", PID: 3}, {Session: "mine", WindowName: "__main__", PID: 1}}, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := seen()
			r.Panes = tt.panes
			var w World
			w.findTmux(r, args)
			assert.Len(t, w.Sleepers, tt.sleepers)
			assert.Equal(t, tt.control, w.Control)
			r.Instance = ""
			w = World{}
			w.findTmux(r, args)
			assert.Equal(t, World{}, w, "a folder without an instance has no windows")
		})
	}
}
