package lifecycle

import (
	"time"

	"ccbot/bot/port/phase"
	"ccbot/internal/claudeui"
	"ccbot/internal/presence"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/tmux"
)

// Phase is what the agent is doing.
type Phase = phase.Phase

const (
	PhaseUnknown           = phase.Unknown
	PhaseIdle              = phase.Idle
	PhaseWorking           = phase.Working
	PhaseWaitingPermission = phase.WaitingPermission
	PhaseWaitingAnswer     = phase.WaitingAnswer
)

// PaneFate is what is known of the bound pane.
type PaneFate int

const (
	PaneUnknown PaneFate = iota // tmux did not answer, or not for sure
	PaneOurs                    // it is there and its process is the bound one
	PaneDead                    // it is there, ours, and its process has ended
	PaneGone                    // the server of the binding answered that it has no such pane, or is proven gone
	PaneForeign                 // another pane carries the id: ids were reused
)

// View is one look at a session's world. Its zero value knows nothing, and
// nothing is done on it.
type View struct {
	Now      time.Time
	Agent    process.Liveness
	Fate     PaneFate
	Pane     tmux.Pane // valid with PaneOurs and PaneDead
	Presence presence.File
	Present  bool // Presence is valid and of the bound agent's very process
	Screen   claudeui.Screen
	Captured bool // Screen is valid
	Adopted  bool // a person opened the pane, and it outlives the agent
	Behind   bool // in an adopted pane: keys would not reach the agent

	Relayed bool          // a permission request of the agent waits for the chat
	Asked   time.Time     // when the newest of them was made
	Tool    string        // that the newest of them asks for
	Below   string        // the tool that a subagent asks for, in a request that waits for the chat; empty: none does
	Since   time.Time     // since when this process has seen the open dialog without a request; only a step's view has it
	Still   time.Duration // for how long this process has seen the box as it is; only a step's view has it
}

// Phase tells what the agent does, as far as its keys go (what people are told is
// doing's): by its presence file, and where there is none, by its screen. Hook
// events say when to look, not what to see: an interrupted turn has no Stop.
func (v View) Phase() Phase {
	switch {
	case v.Agent != process.Alive || v.Fate != PaneOurs:
		return PhaseUnknown
	case v.Present:
		return phaseOf(v.Presence)
	case !v.Captured:
		return PhaseUnknown
	case v.Screen.Dialog != nil:
		return PhaseWaitingPermission
	case v.Screen.Busy:
		return PhaseWorking
	case v.Screen.Box.Present:
		return PhaseIdle
	}
	return PhaseUnknown
}

// phaseOf is what a presence file says that the agent does.
func phaseOf(f presence.File) Phase {
	switch f.Status {
	case presence.Idle:
		return PhaseIdle
	case presence.Busy:
		return PhaseWorking
	case presence.Waiting:
		return waitingPhase(f.WaitingFor)
	}
	return PhaseUnknown
}

// waitingPhase tells a question from a permission; older versions say
// "permission prompt" for both.
func waitingPhase(what string) Phase {
	if what == "input needed" {
		return PhaseWaitingAnswer
	}
	return PhaseWaitingPermission
}

// TypeSafe says whether a text may be typed now: the bound agent, alive, in its
// own pane, idle, no dialog, an empty prompt box, and nobody scrolling (P7).
func (v View) TypeSafe() bool {
	return v.boxFree() && v.Screen.ReadyToType()
}

// idle says whether no turn runs. An agent whose own agents work in the background says that it is
// busy, and takes a text at once (2.1.328). What those ask is drawn only after ccbot's hook, which
// an agent that a person has started does not have: there a dialog may open at any moment.
func (v View) idle() bool {
	background := v.Phase() == PhaseWorking && v.Captured && v.Screen.Background && !v.Adopted
	return v.Phase() == PhaseIdle || background
}

// boxFree says whether the prompt box takes keys: everything TypeSafe asks for
// but emptiness.
func (v View) boxFree() bool {
	return v.idle() && v.Captured && !v.Pane.InMode && !v.Behind &&
		v.Screen.Dialog == nil && v.Screen.Box.Present && !v.Screen.Busy
}

// DialogOpen says whether the terminal takes keys for something else than the
// prompt box, so that Enter would choose something.
func (v View) DialogOpen() bool {
	return v.Phase().Waiting() || v.Fate == PaneOurs && v.Captured && v.Screen.Dialog != nil
}

// ended says whether the agent of a live session is over: proven by the kernel,
// and by tmux as well, unless tmux has forgotten the pane or it is a person's.
func (v View) ended() bool {
	return v.Agent == process.Gone && (v.Adopted || v.Fate == PaneDead || v.Fate == PaneGone || v.Fate == PaneForeign)
}

// launchAge is how long the present launch has been running.
func launchAge(r *session.Record, now time.Time) time.Duration { return now.Sub(r.StartedAt) }

// drawsItself says whether a terminal that draws tmux itself is attached to the session of a pane.
func drawsItself(viewers []tmux.Viewer, pane tmux.Pane) bool {
	shown := 0
	for _, v := range viewers {
		if v.Session == pane.Session {
			shown++
		}
	}
	return pane.Attached > shown
}
