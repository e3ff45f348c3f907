package view

import (
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/tmux"
)

// PaneFate is the known state of the bound pane.
type PaneFate int

const (
	PaneUnknown PaneFate = iota // tmux did not answer, or its answer is not certain
	PaneOurs                    // the pane is there, and its process is the bound one
	PaneDead                    // the pane is there and is the bound one, and its process has ended
	PaneGone                    // the server of the binding answered that it has no such pane, or is proven gone
	PaneForeign                 // another pane carries the id: ids were reused
)

// View is one reading of a session's state. The zero value means that nothing is known, and causes
// no action.
type View struct {
	Now          time.Time
	Agent        process.Liveness
	Half         evidence.Half
	Fate         PaneFate
	Pane         tmux.Pane // valid with PaneOurs and PaneDead
	State        AgentState
	Reader       agent.Reader // has read Screen
	Screen       agent.Screen
	Captured     bool   // Screen is valid
	Styled       string // the source of Screen, with its colours
	Adopted      bool   // a person opened the pane, and it outlives the agent
	InBackground bool   // keys would not reach the agent: another process is in front of its terminal
	ByCall       bool   // the agent takes texts by a call, and not in its prompt box
	ByHook       bool   // the agent asks through a hook or its server too, and not only in its terminal
	ByServer     bool   // with ByHook: through its server, and not each time
	HooksShut    bool   // while it asks for a permission: a policy of the machine keeps it from running ccbot's hook
	Pursues      bool   // a goal, according to the transcript: after a turn it begins the next one by itself
	Silent       bool   // tmux did not answer a question about the pane: nothing follows from the view

	Relayed     bool      // a permission request of the agent waits for the chat
	RequestedAt time.Time // when the newest such request was made
	Tool        string    // the tool that the newest such request asks for
	// SubagentTool is the tool that a subagent asks for in a request that waits for the chat; empty:
	// there is no such request.
	SubagentTool string
	// Since is the time at which this process first saw the open dialog without a request. Only the
	// view of a step has it.
	Since time.Time
	// Settles is how long to wait before the dialog is reported, because it may still be drawn; 0: it
	// rests, or it was reported. Only the view of a step has it.
	Settles time.Duration
	// Tidied is the time at which this process last tried to end the tools of killed processes. Only a
	// step's view has it.
	Tidied time.Time
	// Still is how long this process has seen the box unchanged. Only the view of a step has it.
	Still time.Duration
}

// Phase returns the agent's phase, which decides where keys go; people see the result of Doing. It
// comes from the presence file, and without one from the screen. Hook events only trigger a check:
// an interrupted turn has no Stop event.
func (v View) Phase() talk.Phase {
	switch {
	case v.Agent != process.Alive || v.Fate != PaneOurs:
		return talk.PhaseUnknown
	case v.State.Decides():
		return v.State.Phase
	case v.State.Word != "" && (v.IsFresh(wordWait) || !v.showsFreeBox()):
		return talk.PhaseUnknown
	case v.State.Word != "":
		return talk.PhaseIdle
	case v.State.Known == StateUnknown, !v.Captured:
		return talk.PhaseUnknown
	case v.Screen.Dialog != nil:
		return talk.PhaseWaitingPermission
	case v.Screen.Busy:
		return talk.PhaseWorking
	case v.Screen.Box.Present:
		return talk.PhaseIdle
	}
	return talk.PhaseUnknown
}

// showsFreeBox reports whether the screen shows the prompt box, and nothing that a key would answer
// or interrupt.
func (v View) showsFreeBox() bool {
	return v.Captured && v.Screen.Dialog == nil && v.Screen.Box.Present && !v.Screen.Busy
}

// IsFresh reports whether the agent wrote its state so recently that the screen may be older. A
// file from further in the future was written before the clock was set back.
func (v View) IsFresh(within time.Duration) bool {
	return v.Now.Sub(v.State.Since).Abs() < within
}

// TypeSafe reports whether text may be typed now: the bound agent is alive, in its own pane, and
// idle; no dialog is open, the prompt box is empty, and the window is not scrolled back (P7).
func (v View) TypeSafe() bool {
	return v.IsBoxFree() && v.Screen.Box.Empty && !v.Screen.Box.Bash
}

// IsMoving reports whether the agent has just begun another conversation, after /clear or when it has started itself anew, and
// its hook, which reports that to ccbot, is still under way. What is typed meanwhile would count as typed into the earlier one.
func IsMoving(r session.Record, v View) bool {
	const hook = 5 * time.Second // by which it has reported, or never will
	id := v.State.Conversation
	return id != uuid.Nil && id != r.AgentSessionID && !r.ReportsAt.IsZero() && v.IsFresh(hook)
}

// IsIdle reports whether no turn runs. An agent whose own agents work in the background may say
// that it is busy, but takes text at once. A question of these background agents may be drawn only
// after ccbot's hook has ended. An agent that a person has started does not have that hook: there a
// dialog may open at any moment, so it counts as busy.
func (v View) IsIdle() bool {
	background := v.Phase() == talk.PhaseWorking && v.Captured && v.Screen.Background && !v.Adopted
	return v.Phase() == talk.PhaseIdle || background
}

// IsBoxFree reports whether the prompt box takes keys. It asks for everything that TypeSafe asks
// for, except that the box is empty.
func (v View) IsBoxFree() bool {
	return v.IsIdle() && v.showsFreeBox() && !v.Pane.InMode && !v.InBackground
}

// TakesCall reports whether a text may be given to the agent by a call now: the bound agent is
// alive, in front of its own pane, and idle, and no dialog is open (P7).
func (v View) TakesCall() bool {
	return v.IsIdle() && v.Captured && !v.InBackground && !v.Relayed && !v.DialogOpen() && !v.Screen.Busy
}

// Folder returns the folder in which the agent works: the one that it names, or that of its process if it names none; empty: unknown.
func (v View) Folder() string {
	if v.State.Dir != "" || v.State.Known != StateUnwritten || v.Fate != PaneOurs || v.InBackground {
		return v.State.Dir
	}
	return v.Pane.Path
}

// DialogOpen reports whether something other than the prompt box takes the keys, so that Enter
// would choose an option. If the conversation is not in the window, what the window asks is none of
// the session's questions.
func (v View) DialogOpen() bool {
	if v.State.Attach != "" {
		return false
	}
	return v.Phase().Waiting() || v.Fate == PaneOurs && v.Captured && v.Screen.Dialog != nil
}

// gone reports whether the agent, or its pane, no longer exists.
func (v View) gone() bool {
	return v.Agent == process.Gone || v.Fate == PaneDead || v.Fate == PaneGone || v.Fate == PaneForeign
}

// CheckVisible returns why the view shows no terminal of a living agent: ErrNoAgent means that the
// agent is gone or in the background of its shell, ErrSilent that tmux does not answer, ErrUnseen
// that the terminal's content is unknown.
func (v View) CheckVisible() error {
	switch {
	case v.Silent:
		return ErrSilent
	case v.gone() || v.InBackground:
		return ErrNoAgent
	case !v.IsSeen():
		return ErrUnseen
	}
	return nil
}

// IsSeen reports whether the view shows the terminal of the living agent.
func (v View) IsSeen() bool { return v.Agent == process.Alive && v.Fate == PaneOurs && v.Captured }

// IsCramped reports whether the prompt box is hidden because the pane is small.
func (v View) IsCramped() bool {
	small := v.Pane.Width < usualWidth || v.Pane.Height < usualHeight
	return v.IsSeen() && v.IsIdle() && !v.Screen.Box.Present && small
}

// The size of a terminal that shows the prompt box with any draft.
const usualWidth, usualHeight = 80, 24

// DrawsItself reports whether a terminal that draws tmux itself is attached to the session of a
// pane.
func DrawsItself(viewers []tmux.Viewer, pane tmux.Pane) bool {
	shown := 0
	for _, v := range viewers {
		if v.Session == pane.Session {
			shown++
		}
	}
	return pane.Attached > shown
}

// Shell returns the command of bash mode that the bound agent runs. seen reports whether the screen
// allows an answer.
func (v View) Shell() (sh *agent.Shell, seen bool) {
	seen = v.IsSeen() && v.Screen.Box.Present
	if !seen || v.Phase() != talk.PhaseWorking {
		return nil, seen
	}
	return v.Screen.Shell, true
}

// Runs reports whether a command, with or without its sign, is the one that the screen shows.
func (v View) Runs(sh *agent.Shell, command string) bool {
	return sh != nil && v.Reader.Runs(sh, command)
}

// Holds reports whether the draft in the box is text and nothing else, as far as the screen can
// show.
func (v View) Holds(text string) bool {
	return v.Screen.Box.Present && v.Reader.Holds(v.Screen.Box, text)
}

// steady returns the rows of the screen without what changes by itself, and without blank ones.
func (v View) steady() string {
	var rows []string
	for row := range strings.SplitSeq(v.Screen.Text, "\n") {
		if row = v.Reader.Steady(row); row != "" {
			rows = append(rows, row)
		}
	}
	return strings.Join(rows, "\n")
}

// Obstacle returns why nothing is typed although no turn runs, no dialog is open and the box is
// empty.
func (v View) Obstacle() news.Wait {
	switch {
	case v.Pane.InMode:
		return news.HeldScroll
	case v.Pane.Synchronized:
		return news.HeldSync
	case v.IsCramped():
		return news.HeldSmall
	}
	return news.HeldUnknown
}

// TakesKeys reports whether tmux sends keys to the agent alone: it is in front of its pane, and no
// other pane also gets them. Otherwise tmux refuses the keys.
func TakesKeys(r session.Record, v View) bool {
	return InFront(r, v) && !v.Pane.Synchronized
}

// InFront reports whether tmux sees the agent in front of the pane.
func InFront(r session.Record, v View) bool {
	return r.Binding != nil && (r.Binding.Command == "" || v.Pane.Command == r.Binding.Command)
}
