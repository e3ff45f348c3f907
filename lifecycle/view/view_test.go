package view_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/agent/claude/claudeui"
	"ccbot/agent/claude/presence"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port/talk"
	"ccbot/tmux"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// free is a view in which a text may be typed.
func free(change ...func(*view.View)) view.View {
	v := view.View{Now: noon, Agent: process.Alive, Fate: view.PaneOurs, Captured: true,
		Pane:   tmux.Pane{PID: 9, Command: "claude", Width: 120, Height: 40},
		State:  view.AgentState{Known: view.StateWritten, Phase: talk.PhaseIdle},
		Reader: claudeui.Reader{}, Screen: agent.Screen{Box: agent.Box{Present: true, Empty: true, Whole: true}}}
	for _, c := range change {
		c(&v)
	}
	return v
}

// written is a view of an agent that wrote this presence file.
func written(f presence.File) func(*view.View) {
	return func(v *view.View) { v.State = view.StateOf(process.Identity{}, f, nil) }
}

func status(s presence.Status) func(*view.View) { return written(presence.File{Status: s}) }

// says is a view of an agent that has said a word of its state for some time.
func says(word presence.Status, since time.Duration) func(*view.View) {
	return written(presence.File{Status: word, StatusAt: noon.Add(-since), UpdatedAt: noon})
}

func waitsFor(what string) func(*view.View) {
	return written(presence.WaitsFor(presence.File{Status: presence.Waiting}, what))
}
func alive(l process.Liveness) func(*view.View) { return func(v *view.View) { v.Agent = l } }
func fate(f view.PaneFate) func(*view.View)     { return func(v *view.View) { v.Fate = f } }
func draft(text string) func(*view.View) {
	return func(v *view.View) { v.Screen.Box = agent.Box{Present: true, Text: text, Whole: true} }
}
func noBox(v *view.View)      { v.Screen.Box = agent.Box{} }
func blind(v *view.View)      { v.Captured, v.Screen = false, agent.Screen{} }
func noPresence(v *view.View) { v.State = view.AgentState{Known: view.StateUnwritten} }
func dialogOpen(v *view.View) {
	v.Screen = agent.Screen{Dialog: &agent.Dialog{Title: "Bash command"}}
}

func TestDoing(t *testing.T) {
	busy := status(presence.Busy)
	below := func(tool string) func(*view.View) { return func(v *view.View) { v.SubagentTool = tool } }
	asks := func(tool string) func(*view.View) { return func(v *view.View) { v.Relayed, v.Tool = true, tool } }
	retries := func(v *view.View) { v.Screen.Retry, v.Screen.RetryIn = "529 Overloaded", 33*time.Second }
	compacts := func(v *view.View) { v.Screen.Compacts = true }
	pursues := func(v *view.View) { v.Pursues = true }
	elsewhere := func(v *view.View) {
		v.State = view.StateOf(process.Identity{}, presence.File{Status: presence.Idle, Attach: "claude attach 1a5ea56d"}, nil)
	}
	failed := func(kind talk.FailureKind, until time.Time) talk.Failure {
		return talk.Failure{Kind: kind, Text: "said", Until: until}
	}
	later := noon.Add(time.Hour)
	tests := []struct {
		name   string
		v      view.View
		failed talk.Failure
		want   talk.Activity
	}{
		{"idle", free(), talk.Failure{}, talk.Activity{Phase: talk.PhaseIdle}},
		{"working", free(busy), talk.Failure{}, talk.Activity{Phase: talk.PhaseWorking}},
		{"it shortens its conversation", free(busy, compacts), talk.Failure{}, talk.Activity{Phase: talk.PhaseWorking, What: talk.Compacting}},
		{"it has shortened it", free(compacts), talk.Failure{}, talk.Activity{Phase: talk.PhaseIdle}},
		{"it pursues a goal", free(busy, pursues), talk.Failure{}, talk.Activity{Phase: talk.PhaseWorking, What: talk.Pursuing}},
		{"between two turns of a goal, as the screen still shows one", free(pursues, func(v *view.View) { v.Screen.Busy = true }), talk.Failure{}, talk.Activity{Phase: talk.PhaseWorking, What: talk.Pursuing}},
		{"between two turns of a goal", free(pursues), talk.Failure{}, talk.Activity{Phase: talk.PhaseIdle}},
		{"a goal at a limit", free(pursues), failed(talk.FailedLimit, later), talk.Activity{Phase: talk.PhaseLimited, What: "said", Until: later}},
		{"a question comes before a goal", free(busy, pursues, below("Bash")), talk.Failure{}, talk.Activity{Phase: talk.PhaseWaitingPermission, What: "Bash"}},
		{"nobody knows", free(alive(process.Unknown), below("Bash")), failed(talk.FailedLogin, time.Time{}), talk.Activity{Phase: talk.PhaseUnknown}},
		{"its conversation is in the background", free(elsewhere), talk.Failure{},
			talk.Activity{Phase: talk.PhaseUnknown, What: talk.Elsewhere + "claude attach 1a5ea56d"}},
		{"a dialog of which no request tells", free(waitsFor("permission prompt")), talk.Failure{}, talk.Activity{Phase: talk.PhaseWaitingPermission}},
		{"a permission", free(waitsFor("permission prompt"), asks("Bash")), talk.Failure{}, talk.Activity{Phase: talk.PhaseWaitingPermission, What: "Bash"}},
		{"a question, as 2.1.197 calls it", free(waitsFor("permission prompt"), asks("AskUserQuestion")), talk.Failure{},
			talk.Activity{Phase: talk.PhaseWaitingAnswer, What: "AskUserQuestion"}},
		{"a request that the terminal does not show yet, or no more", free(busy, asks("Bash")), talk.Failure{}, talk.Activity{Phase: talk.PhaseWorking}},
		{"a subagent's permission", free(busy, below("Bash")), talk.Failure{}, talk.Activity{Phase: talk.PhaseWaitingPermission, What: "Bash"}},
		{"a subagent's question", free(busy, below("AskUserQuestion")), talk.Failure{}, talk.Activity{Phase: talk.PhaseWaitingAnswer, What: "AskUserQuestion"}},
		{"a subagent's request that has outlived its agent", free(below("Bash")), talk.Failure{}, talk.Activity{Phase: talk.PhaseIdle}},
		{"a person comes before the API", free(busy, below("Bash"), retries), talk.Failure{}, talk.Activity{Phase: talk.PhaseWaitingPermission, What: "Bash"}},
		{"a word of a later version", free(says("hibernating", time.Second)), talk.Failure{}, talk.Activity{Phase: talk.PhaseUnknown, What: "hibernating"}},
		{"a request is made again", free(busy, retries), talk.Failure{}, talk.Activity{Phase: talk.PhaseAPIError, What: "529 Overloaded", Until: noon.Add(33 * time.Second)}},
		{"a turn runs after a failed one", free(busy), failed(talk.FailedRequest, time.Time{}), talk.Activity{Phase: talk.PhaseWorking}},
		{"an error of the API", free(), failed(talk.FailedRequest, time.Time{}), talk.Activity{Phase: talk.PhaseAPIError, What: "said"}},
		{"a conversation that is too long", free(), failed(talk.FailedContext, time.Time{}), talk.Activity{Phase: talk.PhaseAPIError, What: "said"}},
		{"an account without credit", free(), failed(talk.FailedAccount, time.Time{}), talk.Activity{Phase: talk.PhaseAPIError, What: "said"}},
		{"logged out", free(), failed(talk.FailedLogin, time.Time{}), talk.Activity{Phase: talk.PhaseLoggedOut, What: "said"}},
		{"a hook", free(), failed(talk.FailedHook, time.Time{}), talk.Activity{Phase: talk.PhaseBlocked, What: "said"}},
		{"a limit", free(), failed(talk.FailedLimit, later), talk.Activity{Phase: talk.PhaseLimited, What: "said", Until: later}},
		{"a limit without an end", free(), failed(talk.FailedLimit, time.Time{}), talk.Activity{Phase: talk.PhaseLimited, What: "said"}},
		{"a limit that has ended", free(), failed(talk.FailedLimit, noon), talk.Activity{Phase: talk.PhaseIdle}},
		{"the login page", free(waitsFor("dialog open")), failed(talk.FailedLogin, time.Time{}), talk.Activity{Phase: talk.PhaseWaitingPermission}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) { assert.Equal(t, tc.want, view.Doing(tc.v, tc.failed)) })
	}
}

func TestPhase(t *testing.T) {
	tests := []struct {
		name string
		v    view.View
		want talk.Phase
	}{
		{"zero", view.View{}, talk.PhaseUnknown},
		{"idle", free(), talk.PhaseIdle},
		{"busy", free(status(presence.Busy)), talk.PhaseWorking},
		{"permission", free(status(presence.Waiting)), talk.PhaseWaitingPermission},
		{"question", free(waitsFor("input needed")), talk.PhaseWaitingAnswer},
		{"idle with shells in the background", free(status(presence.Shell)), talk.PhaseIdle},
		{"a word of a later version", free(says("new", time.Second)), talk.PhaseUnknown},
		{"a word of a later version, from after the clock was set back", free(says("new", -time.Second)), talk.PhaseUnknown},
		{"a word that stays, a box", free(says("new", 5*time.Second)), talk.PhaseIdle},
		{"a word that stays, a box with a draft", free(says("new", time.Minute), draft("please fix the build")), talk.PhaseIdle},
		{"a word that stays, a dialog", free(says("new", time.Minute), dialogOpen), talk.PhaseUnknown},
		{"a word that stays, a turn", free(says("new", time.Minute), func(v *view.View) { v.Screen.Busy = true }), talk.PhaseUnknown},
		{"a word that stays, no box", free(says("new", time.Minute), noBox), talk.PhaseUnknown},
		{"a word that stays, blind", free(says("new", time.Minute), blind), talk.PhaseUnknown},
		{"agent unknown", free(alive(process.Unknown)), talk.PhaseUnknown},
		{"agent gone", free(alive(process.Gone)), talk.PhaseUnknown},
		{"pane foreign", free(fate(view.PaneForeign)), talk.PhaseUnknown},
		{"pane unknown", free(fate(view.PaneUnknown)), talk.PhaseUnknown},
		{"no presence, blind", free(noPresence, blind), talk.PhaseUnknown},
		{"no presence, dialog", free(noPresence, dialogOpen), talk.PhaseWaitingPermission},
		{"no presence, busy screen", free(noPresence, func(v *view.View) { v.Screen.Busy = true }), talk.PhaseWorking},
		{"no presence, a box", free(noPresence), talk.PhaseIdle},
		{"no presence, a box with a draft", free(noPresence, draft("please fix the build")), talk.PhaseIdle},
		{"no presence, unknown screen", free(noPresence, noBox), talk.PhaseUnknown},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) { assert.Equal(t, tc.want, tc.v.Phase()) })
	}
}

// TestP7_TicksInsideOptionsAreContent: only the marks at the edges of an option may change under a
// key.
func TestP7_TicksInsideOptionsAreContent(t *testing.T) {
	asks := func(options ...string) string {
		return view.Question(view.View{Screen: agent.Screen{Dialog: &agent.Dialog{Options: options}}})
	}
	assert.Equal(t, asks("[ ] Logs", "Sonnet"), asks("[✔] Logs", "❯ Sonnet ✔"))
	assert.NotEqual(t, asks("Run a✔b"), asks("Run a b"))
	assert.NotEqual(t, asks("Use arr[]"), asks("Use arr"))
	assert.NotEqual(t, asks("Yes\nNo"), asks("Yes", "No"))
}

// TestP7_UnrecognisedFlatDialogIsNotWhole: in screen reader mode an agent can draw the rows of a
// question.
func TestP7_UnrecognisedFlatDialogIsNotWhole(t *testing.T) {
	for _, flat := range []bool{false, true} {
		v := free(waitsFor("permission prompt"), func(v *view.View) { v.Screen = agent.Screen{Flat: flat, Text: "Do you agree?\n1. Yes"} })
		d := view.DialogOf(session.Record{State: session.Running}, v)
		assert.True(t, d.Open)
		assert.Equal(t, !flat, d.Whole)
	}
}

// TestTicksOpenNoDialog compares two screens of one question of the real CLI: between them a person
// has ticked two options.
func TestTicksOpenNoDialog(t *testing.T) {
	read := func(name string) view.View {
		text, err := os.ReadFile("../../agent/claude/claudeui/testdata/" + name + ".ansi")
		require.NoError(t, err)
		return view.View{Screen: claudeui.Read(string(text))}
	}
	before, after := read("ask-multi"), read("ask-multi-2")
	require.NotEqual(t, before.Screen.Dialog.Lines, after.Screen.Dialog.Lines)
	assert.Equal(t, view.Question(before), view.Question(after))
	assert.Equal(t, view.DialogName(before.Screen.Dialog), view.DialogName(after.Screen.Dialog))
	assert.NotEqual(t, view.Question(before), view.Question(read("ask-1")))
}

// Another pane or server never stands for the bound pane, and an absent server proves its end only
// with its process.
func TestP6_FateOfBoundPane(t *testing.T) {
	b := session.Binding{Agent: process.Identity{PID: 9}}
	bound, dead, foreign := &tmux.Pane{PID: 9}, &tmux.Pane{PID: 9, Dead: true}, &tmux.Pane{PID: 8}
	tests := []struct {
		name string
		same process.Answer
		gone bool
		pane *tmux.Pane
		want view.PaneFate
	}{
		{"the pane lives", process.Yes, false, bound, view.PaneOurs},
		{"its process has ended", process.Yes, false, dead, view.PaneDead},
		{"its id was used again", process.Yes, false, foreign, view.PaneForeign},
		{"it is closed", process.Yes, false, nil, view.PaneGone},
		{"another server, and the bound one has ended", process.No, true, nil, view.PaneGone},
		{"another server listens on the socket", process.No, false, bound, view.PaneUnknown},
		{"the clocks cannot be compared", process.Maybe, true, bound, view.PaneUnknown},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, view.FateOf(b, tc.same, tc.gone, tc.pane))
		})
	}
}

// TestP7_ClockLetsAPersonLeave: a dialog with a clock changes each second. A person can leave it, and approve nothing that has changed.
func TestP7_ClockLetsAPersonLeave(t *testing.T) {
	r := session.Record{}
	shows := func(lines ...string) string {
		return view.DialogOf(r, free(waitsFor("dialog open"), func(v *view.View) {
			v.Screen = agent.Screen{Dialog: &agent.Dialog{Lines: lines, Options: []string{"Stop", "Back"}}}
		})).Fingerprint
	}
	seen := shows("sleep 300", "Runtime: 9s")
	for name, tt := range map[string]struct {
		now             string
		looks, approves bool
	}{
		"the same":          {seen, true, true},
		"a second later":    {shows("sleep 300", "Runtime:  10s"), true, false},
		"another command":   {shows("sleep 3000000", "Runtime: 9s"), true, false},
		"another dialog":    {shows("rm -rf x", "Runtime: 9s"), false, false},
		"a row more":        {shows("sleep 300", "Runtime: 9s", "and more"), false, false},
		"of an earlier one": {"eFKKjsh0ShBc", false, false},
	} {
		assert.Equal(t, tt.looks, view.IsUnchanged(seen, tt.now, true), name)
		assert.Equal(t, tt.approves, view.IsUnchanged(seen, tt.now, false), name)
	}
}
