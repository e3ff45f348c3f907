package lifecycle

import (
	"slices"
	"time"

	"ccbot/internal/pause"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// Times that pace the life of a session. None of them ends anything.
const (
	presenceGrace = 5 * time.Second  // how long a start waits for a presence file
	StartNotice   = 10 * time.Second // an agent that is not ready after this time is reported
	queueNotice   = 5 * time.Second  // a prompt that waits this long for a turn is reported
	stillFor      = 2 * time.Second  // an idle agent that leaves its box unchanged this long will not change it by itself
	enterRetry    = 3 * time.Second  // if the text is still in the box this long after Enter, Enter was lost
	repeatWait    = 10 * time.Second // a terminal on a busy machine may take that long to draw a paste
	proofWait     = 20 * time.Second // without proof after this time, the person decides
	markFor       = 10 * time.Minute // ccbot does nothing by itself about a prompt that was typed longer ago
	maxEnters     = 3
)

// These are the acts besides those that Decide returns. Enter, repeat and take_back come only from
// decideTyped, and settleTyped carries them out; a step has the others.
const (
	actNothing   Do = ""
	actReady     Do = "ready"      // starting or restoring → running
	actNotReport Do = "not_report" // report that the agent is not ready yet
	actDialog    Do = "dialog"     // report what the terminal asks
	actHold      Do = "hold"       // report why the head prompt waits
	actType      Do = "type"       // type the head prompt
	actClear     Do = "clear"      // take ccbot's own pasted text out of the box, then hold the prompt
	actEnter     Do = "enter"      // Enter was lost: press it once more
	actProven    Do = "proven"     // the screen proves that a slash command was taken, or that a command of bash mode runs
	actSettle    Do = "settle"     // collect all that is known of a typed prompt, and decide by it
	actRepeat    Do = "repeat"     // the box is empty, and Enter was never pressed: paste again
	actTakeBack  Do = "take_back"  // ccbot's own Esc has put the text back into the box: take it out, and ask the person
	actUnproven  Do = "unproven"   // there is no proof: report it, and let the person decide
	actGrant     Do = "grant"      // carry out what a person wants the agent to run with
	actTidy      Do = "tidy"       // there is nothing else to do: end the processes that killed ones left running
)

// decision is one act. Why is the reason for waiting if the act is actHold. Again is the time of
// the next check at the latest; 0 means that only news wakes the session.
type decision struct {
	Act   Do
	Why   news.Wait
	Again time.Duration
}

// decide determines the next act of a session from one View. head is the prompt to type next, nil
// if none waits. It is pure.
func decide(r session.Record, v view.View, head *Prompt) decision {
	return decideTidy(r, v, head, decideLife(r, v, head))
}

func decideLife(r session.Record, v view.View, head *Prompt) decision {
	d := Decide(r, factsOf(v))
	if d.Do != Reattach && d.Do != "" || !r.State.Open() {
		return decision{Act: d.Do, Again: d.Again}
	}
	if r.State != session.Running {
		return decideStart(r, v, head)
	}
	if d, first := decideWish(r, v, head); first {
		return d
	}
	if v.DialogOpen() {
		return decideDialog(r, v, head)
	}
	if head == nil && v.Agent == process.Gone {
		return decision{Again: 2 * time.Second} // the kernel reports an end earlier than tmux
	}
	if head == nil {
		return decision{}
	}
	if head.State == Typing {
		return decideTyping(v, head, !r.ReportsAt.IsZero())
	}
	return decideHeld(r, v, head)
}

// RetryMost is the longest pause between two tries of a cleanup.
const RetryMost = time.Hour

// retryAfter is the pause before the next try of a cleanup that failed: a minute, doubled each
// time, at most an hour.
func retryAfter(attempts int) time.Duration {
	return pause.Doubled(time.Minute, RetryMost, attempts-1)
}

// tidyPace is the pause between two attempts to end the processes that killed ones left running.
const tidyPace = time.Minute

// decideTidy uses a moment in which there is nothing else to do to end the processes that killed
// ones left running. A stop and its retries end these processes themselves.
func decideTidy(r session.Record, v view.View, head *Prompt, d decision) decision {
	if len(r.Below) == 0 || r.State == session.Stopping || r.State == session.CleanupFailed {
		return d
	}
	told := d.Act == actHold && head != nil && slices.Contains(head.Told, d.Why)
	wait := tidyPace - v.Now.Sub(v.Tidied)
	if wait <= 0 || wait > tidyPace { // the second case: the clock was set back
		wait = tidyPace
		if d.Act == actNothing || told {
			d.Act, d.Why = actTidy, ""
		}
	}
	if d.Again == 0 || d.Again > wait {
		d.Again = wait
	}
	return d
}

// decideStart waits until the agent is ready: it has reported in, is idle, shows an empty prompt
// box and asks nothing.
func decideStart(r session.Record, v view.View, head *Prompt) decision {
	age := v.Now.Sub(r.StartedAt)
	reported := !r.ReportsAt.IsZero()
	switch {
	case v.TypeSafe() && (reported && v.State.Known == view.StateWritten || age >= presenceGrace):
		return decision{Act: actReady, Again: soon}
	case v.DialogOpen():
		d := decideDialog(r, v, head)
		d.Again = min(d.Again, backoff(age))
		return d
	case age >= StartNotice && v.Settles > 0:
		return decision{Again: v.Settles}
	case age >= StartNotice:
		return decision{Act: actNotReport, Again: backoff(age)}
	}
	return decision{Again: backoff(age)}
}

// soon is the polling interval for a screen that is about to change: the terminal draws a little
// later than presence files and hooks report.
const soon = 150 * time.Millisecond

// backoff returns the pause between two checks of a slow start: a tenth of its age, between soon
// and half a minute.
func backoff(age time.Duration) time.Duration {
	return min(max(age/10, soon), 30*time.Second)
}

// decideDialog reports the terminal's question, unless the chat has it as a request or will soon
// have it.
func decideDialog(r session.Record, v view.View, head *Prompt) decision {
	held := head != nil && head.waits()
	wait := relayWait(r, v)
	switch {
	// The presence file is ahead of the screen, which still shows an answered dialog or not yet the
	// open one.
	case v.IsFresh(drawn) && (v.Screen.Dialog == nil || !v.State.Phase.Waiting()):
		return decision{Again: soon}
	case !held && opened(v, head):
		return decision{Act: actProven, Again: soon}
	case v.Relayed && held:
		return decision{Act: actHold, Why: news.HeldDialog, Again: slow}
	case v.Relayed:
		return decision{Again: slow}
	case wait > 0:
		return decision{Again: wait}
	case v.Settles > 0:
		return decision{Again: v.Settles}
	case held:
		return decision{Act: actDialog, Why: news.HeldDialog, Again: slow}
	}
	if head.entered() && v.Now.Sub(head.Mark.At) < proofWait {
		return decision{Act: actDialog, Again: enterRetry} // the proof that the prompt arrived may still come
	}
	return decision{Act: actDialog, Again: slow}
}

// opened reports whether a slash command was taken: after its Enter, the page that it opens has
// replaced the box with its text.
func opened(v view.View, p *Prompt) bool {
	return p != nil && p.submitted() &&
		v.Fate == view.PaneOurs && v.Agent == process.Alive && v.Screen.Dialog != nil
}

// drawn is how long the terminal may take to draw a dialog that the presence file reports. If the
// dialog is still not recognised then, the screen is reported as it is.
const drawn = time.Second

// slow is the polling interval for a screen that waits for a person.
const slow = 30 * time.Second

// decideTyping waits for the proof that a typed prompt arrived. For plain prompts hook events bring
// it; for slash commands the screen is checked here. decideTyped decides all other cases.
func decideTyping(v view.View, p *Prompt, hooked bool) decision {
	if p.Mark == nil {
		return decision{Act: actUnproven} // a file that was edited
	}
	age := v.Now.Sub(p.Mark.At)
	waited := min(age, v.Now.Sub(p.Since))
	switch {
	case p.Mark.Retreat && v.IsBoxFree():
		return decision{Act: actClear}
	case p.Mark.Retreat && v.Phase() == talk.PhaseWorking && v.Below != "":
		return decision{Act: actHold, Why: news.HeldDialog, Again: slow}
	case p.Mark.Retreat && age < proofWait:
		return decision{Again: 5 * soon}
	case p.Mark.Retreat && v.Phase() == talk.PhaseWorking:
		return decision{Act: actHold, Why: news.Queued, Again: slow}
	case p.Mark.Retreat:
		return decision{Act: actHold, Why: v.Obstacle(), Again: holdPace}
	case p.submitted() && age >= soon && boxWithout(v, p), p.runs(v):
		return decision{Act: actProven}
	case hooked && p.Class != talk.ClassBash && waited >= 0 && waited < stillFor:
		return decision{Again: max(soon, waited/2)} // a hook reports it in a moment
	}
	return decision{Act: actSettle}
}

// clues are the evidence about a typed prompt apart from the terminal. The zero value means that
// there is no sign of the prompt's arrival and no reason against typing, except that a person may
// be at the terminal.
type clues struct {
	Arrived bool   // a hook event or a line of a transcript shows that the prompt was taken, or refused by a hook
	Unheard bool   // hook events have not been processed yet: the proof may be among them
	Doubt   string // why ccbot may neither press Enter nor paste again by itself; empty: nothing speaks against it
	Pasted  bool   // tmux has accepted the paste from this ccbot process: an empty box will still show it
	Quiet   bool   // tmux shows that no key was pressed in the terminal since the mark
	// Reported says that hooks of this launch have reported: a prompt that was taken has left an
	// event.
	Reported bool
}

// Doubts, as the log names them.
const (
	doubtEsc        = "interrupted from the chat since"
	doubtProcess    = "typed to another process"
	doubtMoved      = "the conversation is another one"
	doubtForeign    = "another prompt or a compaction came after it"
	doubtOld        = "typed more than 10 minutes ago"
	doubtClock      = "the clock was set since"
	doubtUnreadable = "events or transcript cannot be read"
	doubtNone       = "no proof came"
)

// decideTyped decides about a prompt that was typed and of which the terminal does not show whether
// it arrived. The first row that holds decides. It is pure.
//
//	it has arrived                                   it is done, whatever the box shows
//	events are unread, a turn runs, the agent asks   wait, however long
//	the idle agent's box is the same for 2 s, and nothing speaks against typing on:
//	    it is literally the text, Enter not pressed  press Enter: only ccbot can have typed it
//	    it shows the text, nobody at the terminal    press Enter: the first one was lost
//	    it is empty, Enter not pressed, and nobody   paste once more, if ccbot died before it
//	    at the terminal                              knew whether the first paste succeeded
//	    it shows the text, ccbot has pressed Esc     take it out: it was not carried out; ask
//	the pane of the idle agent is too small for it   wait, and report that
//	something speaks against it, or no proof came    the person decides
func decideTyped(v view.View, p *Prompt, c clues) decision {
	shows := v.IsBoxFree() && p.shows(v.Screen.Box)
	empty := v.IsBoxFree() && v.Screen.Box.Empty && !v.Screen.Box.Bash
	still := v.State.Known == view.StateWritten && v.IsBoxFree() && v.Still >= stillFor // the screen alone does not prove that the agent is idle
	waited := min(v.Now.Sub(p.Mark.At), v.Now.Sub(p.Since))
	switch {
	case c.Arrived:
		return decision{Act: actProven}
	case c.Unheard && waited < markFor:
		return decision{Again: 2 * soon}
	case !v.IsIdle() && v.Phase() == talk.PhaseWorking && v.Below != "":
		return decision{Act: actHold, Why: news.HeldDialog, Again: holdPace} // report that the prompt waits for a question
	case !v.IsIdle() && v.Phase() == talk.PhaseWorking || v.Phase().Waiting():
		return decision{Again: holdPace}
	case still && c.Doubt == "" && shows && p.Mark.Enters == 0 && v.Screen.Box.Whole():
		return decision{Act: actEnter, Again: enterRetry}
	case still && c.Doubt == "" && shows && c.Quiet && c.Reported && p.Mark.Enters < maxEnters:
		if wait := enterRetry*time.Duration(p.Mark.Enters) - v.Now.Sub(p.Mark.At); wait > 0 {
			return decision{Again: wait}
		}
		return decision{Act: actEnter, Again: enterRetry}
	case still && c.Doubt == "" && empty && c.Quiet && !c.Pasted && p.Mark.Enters == 0 && !p.Repeated && p.Class != talk.ClassBash:
		if waited < repeatWait {
			return decision{Again: repeatWait - waited}
		}
		return decision{Act: actRepeat, Again: soon}
	case still && c.Doubt == doubtEsc && shows && (v.Screen.Box.Whole() || c.Quiet):
		return decision{Act: actTakeBack}
	case v.IsCramped() && waited >= queueNotice && waited < markFor: // Enter follows when the box can be seen
		return decision{Act: actHold, Why: news.HeldSmall, Again: holdPace}
	case still && c.Doubt != "", waited >= proofWait:
		return decision{Act: actUnproven}
	}
	return decision{Again: soon + min(enterRetry, max(waited, 0)/2)}
}

// boxWithout reports whether the box of the living agent is visible and does not show the text.
// Text that was not taken would still be there, also while a person scrolls.
func boxWithout(v view.View, p *Prompt) bool {
	return v.IsSeen() && v.Screen.Box.Present && !p.shows(v.Screen.Box)
}

// decideHeld types the prompt if it is safe, and otherwise returns the reason of its wait.
func decideHeld(r session.Record, v view.View, p *Prompt) decision {
	waited := v.Now.Sub(p.Since)
	switch {
	case v.Agent == process.Gone || v.Fate == view.PaneDead || v.Agent != process.Alive && waited < queueNotice:
		return decision{Again: 2 * time.Second} // the agent is ending: the kernel and tmux report it one after the other
	case v.Agent != process.Alive || v.Fate != view.PaneOurs:
		return decision{Act: actHold, Why: news.HeldUnknown, Again: holdPace}
	case v.TypeSafe() && view.TakesKeys(r, v):
		return decision{Act: actType, Again: soon}
	case v.Phase() == talk.PhaseWorking && v.Below != "":
		return decision{Act: actHold, Why: news.HeldDialog, Again: slow} // the work continues when a person has answered
	// The presence file does not count here: the agent may be suspended during a turn.
	case v.Behind && waited >= queueNotice:
		return decision{Act: actHold, Why: news.HeldUnknown, Again: holdPace}
	case v.Phase() == talk.PhaseWorking && waited < queueNotice:
		return decision{Again: queueNotice - waited} // most turns have ended before a report is worthwhile
	case v.State.Phase == talk.PhaseWorking:
		return decision{Act: actHold, Why: news.Queued} // a change of the presence file reports the end of the turn
	case v.Phase() == talk.PhaseWorking:
		return decision{Act: actHold, Why: news.Queued, Again: holdPace}
	case v.IsBoxFree() && v.Screen.Box.Bash:
		return decision{Act: actHold, Why: news.HeldBash, Again: holdPace}
	case v.IsBoxFree() && !v.Screen.Box.Empty && v.Still < stillFor:
		return decision{Again: stillFor - v.Still} // the screen may still show the text that was entered before
	// A crash has left the text there. Even if a person typed it, clearing it loses nothing: the
	// same text is submitted afterwards.
	case v.IsBoxFree() && p.literally(v.Screen.Box):
		return decision{Act: actClear, Again: holdPace}
	case v.IsBoxFree() && !v.Screen.Box.Empty:
		return decision{Act: actHold, Why: news.HeldDraft, Again: holdPace}
	case v.Pane.InMode: // a person can leave the view at once
		return decision{Act: actHold, Why: news.HeldScroll, Again: holdPace}
	case waited < queueNotice, v.IsFresh(queueNotice):
		return decision{Again: 2 * soon} // the presence file says idle, and the screen follows
	}
	return decision{Act: actHold, Why: v.Obstacle(), Again: holdPace}
}

// holdPace is the polling interval for a box that is not free: no event reports that a person has
// cleared it.
const holdPace = 5 * time.Second

// decideWish decides a step for a request of a mode or a model. first is false if the request
// changes nothing now. A request comes before the next prompt, and never between a prompt and its
// proof.
func decideWish(r session.Record, v view.View, head *Prompt) (d decision, first bool) {
	switch {
	case r.Wish == nil || r.Binding == nil, head != nil && head.State == Typing:
		return decision{}, false
	case r.Wish.Agent != r.Binding.Agent, takesModeKeys(r, v), ownModels(r, v):
		return decision{Act: actGrant, Again: soon}, true
	case v.DialogOpen():
		return decision{}, false
	case v.TypeSafe() && view.TakesKeys(r, v): // agents in the background work, or a request has just come
		return decision{Act: actHold, Why: news.Queued, Again: holdPace}, true
	case head == nil && (v.Phase() != talk.PhaseWorking || v.State.Known != view.StateWritten):
		return decision{Again: holdPace}, true // nothing reports that a draft is gone
	}
	return decision{}, false
}

// takesModeKeys reports whether the keys of permission modes and models may be pressed now. In a
// dialog such a key may approve, so it needs more than text does: nothing works that could open
// one.
func takesModeKeys(r session.Record, v view.View) bool {
	s := v.Screen
	return v.TypeSafe() && view.TakesKeys(r, v) && !s.Background && s.Agents == 0 && !s.Continues && !v.Relayed && v.Below == ""
}

// ownModels reports whether the list of models is open, and ccbot has opened it.
func ownModels(r session.Record, v view.View) bool {
	_, open := v.Screen.Dialog.Models()
	return open && r.Wish.Listed && r.Wish.Agent == r.Binding.Agent && view.TakesKeys(r, v) && !v.Pane.InMode && !v.Behind && !v.Relayed
}

// modelsClosed reports whether the terminal shows that no list of models is open.
func modelsClosed(v view.View) bool {
	_, open := v.Screen.Dialog.Models()
	return v.Captured && !open && (v.Screen.Box.Present || v.DialogOpen())
}
