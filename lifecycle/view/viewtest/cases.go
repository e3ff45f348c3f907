// Package viewtest makes views for tests.
package viewtest

import (
	"strings"
	"time"

	"pgregory.net/rapid"

	"ccbot/agent"
	"ccbot/agent/claude/claudeui"
	"ccbot/agent/claude/presence"
	"ccbot/internal/process"
	"ccbot/lifecycle/view"
	"ccbot/port/talk"
	"ccbot/tmux"
)

// Noon is the time of the views.
var Noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// Said is the text of a prompt.
const Said = "please fix the build"

// Free is a view in which a text may be typed.
func Free(change ...func(*view.View)) view.View {
	v := view.View{Now: Noon, Agent: process.Alive, Fate: view.PaneOurs, Captured: true,
		Pane:  tmux.Pane{PID: 9, Command: "claude", Tag: "4f0c/x", Width: 120, Height: 40},
		State: view.AgentState{Known: view.StateWritten, Phase: talk.PhaseIdle}, Reader: claudeui.Reader{}, ByHook: true,
		Screen: agent.Screen{Box: agent.Box{Present: true, Empty: true, Whole: true}}}
	for _, c := range change {
		c(&v)
	}
	return v
}

// Status sets the status of the presence file.
func Status(s presence.Status) func(*view.View) { return written(presence.File{Status: s}) }

// Says lets the agent say a word of its state for some time.
func Says(word presence.Status, since time.Duration) func(*view.View) {
	return func(v *view.View) {
		v.State = view.StateOf(process.Identity{}, presence.File{Status: word, StatusAt: v.Now.Add(-since)}, nil)
	}
}

// Elsewhere moves the conversation into the agent's own background, and lets the window show a free box.
func Elsewhere(v *view.View) {
	v.State = view.StateOf(process.Identity{}, presence.File{Status: presence.Idle, Attach: "claude attach 1a5ea56d"}, nil)
}

// Fate sets the fate of the pane.
func Fate(f view.PaneFate) func(*view.View) { return func(v *view.View) { v.Fate = f } }

// Alive sets the liveness of the agent.
func Alive(l process.Liveness) func(*view.View) { return func(v *view.View) { v.Agent = l } }

// Draft puts a text into the box.
func Draft(text string) func(*view.View) {
	return func(v *view.View) {
		v.Screen.Box = agent.Box{Present: true, Text: text, Whole: !strings.Contains(text, "[Pasted")}
	}
}

// DialogOpen shows a dialog instead of the box.
func DialogOpen(v *view.View) {
	v.Screen = agent.Screen{Dialog: &agent.Dialog{Title: "Bash command"}}
}

// NoBox removes the box.
func NoBox(v *view.View) { v.Screen.Box = agent.Box{} }

// Blind removes the screen: it could not be captured.
func Blind(v *view.View) { v.Captured, v.Screen = false, agent.Screen{} }

// Scrolled puts the pane into a mode in which a person scrolls.
func Scrolled(v *view.View) { v.Pane.InMode = true }

// Synced synchronises the panes of the window.
func Synced(v *view.View) { v.Pane.Synchronized = true }

// Narrow makes the pane narrow.
func Narrow(v *view.View) { v.Pane.Width = 40 }

// Flat makes the pane low.
func Flat(v *view.View) { v.Pane.Height = 5 }

// InBackground moves an adopted agent to the background.
func InBackground(v *view.View) { v.Adopted, v.InBackground = true, true }

// BashMode puts the box into bash mode.
func BashMode(v *view.View) {
	v.Screen.Box = agent.Box{Present: true, Empty: true, Whole: true, Bash: true}
}

// SubagentAsks lets a subagent ask for a permission.
func SubagentAsks(v *view.View) { v.SubagentTool = "Bash" }

// Ahead dates the presence file an hour ahead.
func Ahead(v *view.View) { v.State.Since = Noon.Add(time.Hour) }

// NoPresence removes the presence file.
func NoPresence(v *view.View) { v.State = view.AgentState{Known: view.StateUnwritten} }
func unreadable(v *view.View) { v.State = view.AgentState{} }

// written is a view of an agent that wrote this presence file at the time of its last one.
func written(f presence.File) func(*view.View) {
	return func(v *view.View) {
		f.UpdatedAt = v.State.Since
		v.State = view.StateOf(process.Identity{}, f, nil)
	}
}

// WaitsFor sets the reason for which the agent waits.
func WaitsFor(what string) func(*view.View) {
	return written(presence.WaitsFor(presence.File{Status: presence.Waiting}, what))
}

// AnyView draws a view that differs from a free one in a few ways, because the interesting cases
// are near it.
func AnyView(t *rapid.T) view.View {
	v := Free()
	for range rapid.IntRange(0, 4).Draw(t, "changes") {
		rapid.SampledFrom(Changes).Draw(t, "change")(&v)
	}
	return AsSeen(v)
}

// AsSeen removes fields that View would not have read.
func AsSeen(v view.View) view.View {
	if v.Agent != process.Alive {
		v.State = view.AgentState{} // View does not read it then
	}
	if v.Fate != view.PaneOurs && v.Fate != view.PaneDead {
		v.Captured, v.Screen = false, agent.Screen{}
	}
	return v
}

// Changes are the changes that AnyView draws from.
var Changes = []func(*view.View){
	Alive(process.Unknown), Alive(process.Gone), Fate(view.PaneUnknown), Fate(view.PaneDead), Fate(view.PaneGone), Fate(view.PaneForeign),
	Status(presence.Busy), Status(presence.Waiting), Status("new"), Says("new", time.Second), NoPresence, unreadable, Blind, NoBox, Scrolled, DialogOpen,
	Draft(Said), Draft("mine"), Draft("mine " + Said), Draft("/compact"), Draft("/compact"), Draft(Said),
	func(v *view.View) { v.Screen.Box.Bash = true }, func(v *view.View) { v.Screen.Busy = true },
	func(v *view.View) { v.Screen.Dialog = &agent.Dialog{Title: "over a box"} },
}

// Rested is a box that has stayed the same.
func Rested(v *view.View) { v.Still = 2 * time.Second }
