package typing

import (
	"time"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// Times that pace the typing of prompts. None of them ends anything.
const (
	queueNotice = 5 * time.Second  // a prompt that waits this long for a turn is reported
	stillFor    = 2 * time.Second  // an idle agent that leaves its box unchanged this long will not change it by itself
	EnterRetry  = 3 * time.Second  // if the text is still in the box this long after Enter, Enter was lost
	repeatWait  = 10 * time.Second // a terminal on a busy machine may take that long to draw a paste
	ProofWait   = 20 * time.Second // without proof after this time, the person decides
	typedTTL    = 10 * time.Minute // ccbot does nothing by itself about a prompt that was typed longer ago
	maxEnters   = 3
)

// Act is the next act for the head prompt of a session.
type Act string

// The acts of typing. Those that are not exported come only from decideTyped, for Settle.
const (
	Wait     Act = ""
	Hold     Act = "hold"      // report why the prompt waits
	Type     Act = "type"      // type the prompt
	Clear    Act = "clear"     // take ccbot's own pasted text out of the box, then hold the prompt
	Proven   Act = "proven"    // the screen proves that a slash command was taken, or that a command of bash mode runs
	Settle   Act = "settle"    // collect all that is known of a typed prompt, and decide by it
	GiveUp   Act = "unproven"  // there is no proof: report it, and let the person decide
	enter    Act = "enter"     // Enter was lost: press it once more
	repeat   Act = "repeat"    // the box is empty, and Enter was never pressed: paste again
	takeBack Act = "take_back" // ccbot's own cancel key has put the text back into the box: take it out, and ask the person
)

// Decision is one act. Why is the reason for waiting if the act is Hold. Again is the time of the
// next check at the latest; 0 means that only news wakes the session.
type Decision struct {
	Act   Act
	Why   news.Wait
	Again time.Duration
}

// Decide determines the next act for the head prompt of a running session in whose terminal no
// dialog is open. It is pure.
func Decide(r session.Record, v view.View, head *Prompt) Decision {
	if v.ByCall {
		return decideCall(v, head)
	}
	if head.State == Typing {
		return decideTyping(v, head, !r.ReportsAt.IsZero())
	}
	return decideHeld(r, v, head)
}

// HasOpened reports whether a slash command was taken: after its Enter, the page that it opens has
// replaced the box with its text.
func HasOpened(v view.View, p *Prompt) bool {
	return p != nil && p.submitted() && !v.ByCall &&
		v.Fate == view.PaneOurs && v.Agent == process.Alive && v.Screen.Dialog != nil
}

// decideTyping waits for the proof that a typed prompt arrived. For plain prompts hook events bring
// it; for slash commands the screen is checked here. decideTyped decides all other cases.
func decideTyping(v view.View, p *Prompt, hooked bool) Decision {
	if p.Mark == nil {
		return Decision{Act: GiveUp} // a file that was edited
	}
	age := v.Now.Sub(p.Mark.At)
	waited := min(age, v.Now.Sub(p.Since))
	switch {
	case p.Mark.Retreat && v.IsBoxFree():
		return Decision{Act: Clear}
	case p.Mark.Retreat && v.Phase() == talk.PhaseWorking && v.SubagentTool != "":
		return Decision{Act: Hold, Why: news.HeldDialog, Again: view.Slow}
	case p.Mark.Retreat && age < ProofWait:
		return Decision{Again: 5 * view.Soon}
	case p.Mark.Retreat && v.Phase() == talk.PhaseWorking:
		return Decision{Act: Hold, Why: news.Queued, Again: view.Slow}
	case p.Mark.Retreat:
		return Decision{Act: Hold, Why: v.Obstacle(), Again: view.HoldPace}
	case p.submitted() && age >= view.Soon && boxWithout(v, p), p.runs(v):
		return Decision{Act: Proven}
	case hooked && p.Class != talk.ClassBash && waited >= 0 && waited < stillFor:
		return Decision{Again: max(view.Soon, waited/2)} // a hook reports it in a moment
	}
	return Decision{Act: Settle}
}

// clues are the evidence about a typed prompt apart from the terminal. The zero value means that
// there is no sign of the prompt's arrival and no reason against typing, except that a person may
// be at the terminal.
type clues struct {
	Arrived       bool   // a hook event or a line of a transcript shows that the prompt was taken, or refused by a hook
	PendingEvents bool   // hook events have not been processed yet: the proof may be among them
	Doubt         string // why ccbot may neither press Enter nor paste again by itself; empty: nothing speaks against it
	Pasted        bool   // tmux has accepted the paste from this ccbot process: an empty box will still show it
	Quiet         bool   // tmux shows that no key was pressed in the terminal since the mark
	// Reported says that hooks of this launch have reported: a prompt that was taken has left an
	// event.
	Reported bool
}

// Doubts, as the log names them.
const (
	doubtCancelled  = "interrupted from the chat since"
	doubtProcess    = "typed to another process"
	doubtMoved      = "the conversation is another one"
	doubtForeign    = "another prompt or a compaction came after it"
	doubtOld        = "typed more than 10 minutes ago"
	doubtClock      = "the clock was set since"
	doubtUnreadable = "events or transcript cannot be read"
	doubtNone       = "no proof came"
)

// decideTyped decides about a prompt that was typed and whose arrival the terminal does not show.
// The first row that holds decides. It is pure.
//
//	it has arrived                                   it is done, whatever the box shows
//	events are unread, a turn runs, the agent asks   wait, however long
//	the idle agent's box is the same for 2 s, and nothing speaks against typing on:
//	    it is literally the text, Enter not pressed  press Enter: only ccbot can have typed it
//	    it shows the text, nobody at the terminal    press Enter: the first one was lost
//	    it is empty, Enter not pressed, and nobody   paste once more, if ccbot died before it
//	    at the terminal                              knew whether the first paste succeeded
//	    it shows the text, ccbot has ended the turn  take it out: it was not carried out; ask
//	the pane of the idle agent is too small for it   wait, and report that
//	something speaks against it, or no proof came    the person decides
func decideTyped(v view.View, p *Prompt, c clues) Decision {
	if v.ByCall {
		return decideCalled(v, p, c.Arrived)
	}
	shows := v.IsBoxFree() && p.shows(v)
	empty := v.IsBoxFree() && v.Screen.Box.Empty && !v.Screen.Box.Bash
	still := v.State.Decides() && v.IsBoxFree() && v.Still >= stillFor // the screen alone does not prove that the agent is idle
	waited := min(v.Now.Sub(p.Mark.At), v.Now.Sub(p.Since))
	switch {
	case c.Arrived:
		return Decision{Act: Proven}
	case c.PendingEvents && waited < typedTTL:
		return Decision{Again: 2 * view.Soon}
	case !v.IsIdle() && v.Phase() == talk.PhaseWorking && v.SubagentTool != "":
		return Decision{Act: Hold, Why: news.HeldDialog, Again: view.HoldPace} // report that the prompt waits for a question
	case !v.IsIdle() && v.Phase() == talk.PhaseWorking || v.Phase().Waiting():
		return Decision{Again: view.HoldPace}
	case still && c.Doubt == "" && shows && p.Mark.Enters == 0 && v.Screen.Box.Whole:
		return Decision{Act: enter, Again: EnterRetry}
	case still && c.Doubt == "" && shows && c.Quiet && c.Reported && p.Mark.Enters < maxEnters:
		if wait := EnterRetry*time.Duration(p.Mark.Enters) - v.Now.Sub(p.Mark.At); wait > 0 {
			return Decision{Again: wait}
		}
		return Decision{Act: enter, Again: EnterRetry}
	case still && c.Doubt == "" && empty && c.Quiet && !c.Pasted && p.Mark.Enters == 0 && !p.Repeated && p.Class != talk.ClassBash:
		if waited < repeatWait {
			return Decision{Again: repeatWait - waited}
		}
		return Decision{Act: repeat, Again: view.Soon}
	case still && c.Doubt == doubtCancelled && shows && (v.Screen.Box.Whole || c.Quiet):
		return Decision{Act: takeBack}
	case v.IsCramped() && waited >= queueNotice && waited < typedTTL: // Enter follows when the box can be seen
		return Decision{Act: Hold, Why: news.HeldSmall, Again: view.HoldPace}
	case still && c.Doubt != "", waited >= ProofWait:
		return Decision{Act: GiveUp}
	}
	return Decision{Again: view.Soon + min(EnterRetry, max(waited, 0)/2)}
}

// boxWithout reports whether the box of the living agent is visible and does not show the text.
// Text that was not taken would still be there, also while a person scrolls.
func boxWithout(v view.View, p *Prompt) bool {
	return v.IsSeen() && v.Screen.Box.Present && !p.shows(v)
}

// decideHeld types the prompt if it is safe, and otherwise returns the reason of its wait.
func decideHeld(r session.Record, v view.View, p *Prompt) Decision {
	waited := v.Now.Sub(p.Since)
	switch {
	case v.Agent == process.Gone || v.Fate == view.PaneDead || v.Agent != process.Alive && waited < queueNotice:
		return Decision{Again: 2 * time.Second} // the agent is ending: the kernel and tmux report it one after the other
	case v.Agent != process.Alive || v.Fate != view.PaneOurs:
		return Decision{Act: Hold, Why: news.HeldUnknown, Again: view.HoldPace}
	case v.TypeSafe() && view.IsMoving(r, v):
		return Decision{Again: view.Soon}
	case v.TypeSafe() && view.TakesKeys(r, v):
		return Decision{Act: Type, Again: view.Soon}
	case v.Phase() == talk.PhaseWorking && v.SubagentTool != "":
		return Decision{Act: Hold, Why: news.HeldDialog, Again: view.Slow} // the work continues when a person has answered
	// The presence file does not count here: the agent may be suspended during a turn.
	case v.InBackground && waited >= queueNotice:
		return Decision{Act: Hold, Why: news.HeldUnknown, Again: view.HoldPace}
	case v.Phase() == talk.PhaseWorking && waited < queueNotice:
		return Decision{Again: queueNotice - waited} // most turns have ended before a report is worthwhile
	case v.State.Phase == talk.PhaseWorking:
		return Decision{Act: Hold, Why: news.Queued} // a change of the presence file reports the end of the turn
	case v.Phase() == talk.PhaseWorking:
		return Decision{Act: Hold, Why: news.Queued, Again: view.HoldPace}
	case v.IsBoxFree() && v.Screen.Box.Bash:
		return Decision{Act: Hold, Why: news.HeldBash, Again: view.HoldPace}
	case v.IsBoxFree() && !v.Screen.Box.Empty && v.Still < stillFor:
		return Decision{Again: stillFor - v.Still} // the screen may still show the text that was entered before
	// A crash has left the text there. Even if a person typed it, clearing it loses nothing: the
	// same text is submitted afterwards.
	case v.IsBoxFree() && p.literally(v.Screen.Box):
		return Decision{Act: Clear, Again: view.HoldPace}
	case v.IsBoxFree() && !v.Screen.Box.Empty:
		return Decision{Act: Hold, Why: news.HeldDraft, Again: view.HoldPace}
	case v.Pane.InMode: // a person can leave the view at once
		return Decision{Act: Hold, Why: news.HeldScroll, Again: view.HoldPace}
	case waited < queueNotice, v.IsFresh(queueNotice):
		return Decision{Again: 2 * view.Soon} // the presence file says idle, and the screen follows
	}
	return Decision{Act: Hold, Why: v.Obstacle(), Again: view.HoldPace}
}
