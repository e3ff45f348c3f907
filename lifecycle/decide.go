package lifecycle

import (
	"slices"
	"time"

	"ccbot/bot/port/news"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

// Times that a life is paced by. None of them ends anything.
const (
	presenceGrace = 5 * time.Second  // a presence file that is absent this long is not waited for
	StartNotice   = 10 * time.Second // an agent that is not ready after this is told
	queueNotice   = 5 * time.Second  // a prompt that waits this long behind a turn is told so
	stillFor      = 2 * time.Second  // an idle agent whose box stays the same this long has nothing left to do with it
	enterRetry    = 3 * time.Second  // text still in the box this long after Enter: Enter was lost
	repeatWait    = 10 * time.Second // a terminal on a busy machine may take that long to draw a paste
	proofWait     = 20 * time.Second // no proof after this: the person decides
	markFor       = 10 * time.Minute // what was typed before that is not acted on by itself
	maxEnters     = 3
)

// act is what a step does.
type act int

const (
	actNothing    act = iota
	actReady          // starting or restoring → running
	actNotReport      // tell that the agent is not ready yet
	actDialog         // tell what the terminal asks
	actHold           // tell why the head prompt waits
	actType           // type the head prompt
	actClear          // empty the box of our own pasted text, then hold
	actEnter          // Enter was lost: press it once more
	actProven         // the screen proves that a slash command was taken, or that a command of bash mode runs
	actSettle         // look for all that is known of a typed prompt, and decide by that
	actRepeat         // the box is empty, and Enter was never pressed: paste anew
	actTakeBack       // our own Esc has put it back into the box: take it out, and ask
	actUnproven       // no proof: tell, and let the person decide
	actConclude       // the agent ended by itself
	actLost           // the pane went away without us
	actFinishStop     // an archive was interrupted: finish it
	actRetry          // a cleanup failed: try again
	actTidy           // nothing else to do: end what killed processes left running
)

// decision is one act, with the reason for waiting where it is actHold, and
// when to look again at the latest; 0 means that only news wakes the session.
type decision struct {
	Act   act
	Why   news.Wait
	Again time.Duration
}

// decide is the whole of a session's behaviour between two looks at the world.
// head is the prompt to type next, nil when none waits. It is pure.
func decide(r session.Record, v View, head *Prompt) decision {
	return decideTidy(r, v.Now, head, decideLife(r, v, head))
}

func decideLife(r session.Record, v View, head *Prompt) decision {
	switch {
	case r.State == session.Stopping:
		return decision{Act: actFinishStop}
	case r.State == session.CleanupFailed:
		return decideRetry(r, v.Now)
	case !r.State.Open():
		return decision{}
	}
	if d, over := decideEnd(r, v); over {
		return d
	}
	if r.State != session.Running {
		return decideStart(r, v, head)
	}
	if v.DialogOpen() {
		return decideDialog(r, v, head)
	}
	if head == nil && v.Agent == process.Gone {
		return decision{Again: 2 * time.Second} // the kernel tells of an end before tmux does
	}
	if head == nil {
		return decision{}
	}
	if head.State == Typing {
		return decideTyping(v, head, !r.ReportsAt.IsZero())
	}
	return decideHeld(r, v, head)
}

// decideRetry tries a cleanup again when its time has come.
func decideRetry(r session.Record, now time.Time) decision {
	if r.Cleanup == nil {
		return decision{Act: actRetry, Again: soon} // a file that was edited
	}
	wait := min(r.Cleanup.NotBefore.Sub(now), retryAfter(r.Cleanup.Attempts)) // the wall clock may have been ahead then
	if wait > 0 {
		return decision{Again: wait}
	}
	return decision{Act: actRetry, Again: soon}
}

// tidyPace is the pause between two looks at what killed processes left running.
const tidyPace = time.Minute

// decideTidy takes a moment in which nothing else is to do to end what killed
// processes left running. It is paced by the record's date, because a try may
// take long and ends with a save. A stop and its retries do it themselves.
func decideTidy(r session.Record, now time.Time, head *Prompt, d decision) decision {
	if len(r.Below) == 0 || r.State == session.Stopping || r.State == session.CleanupFailed {
		return d
	}
	told := d.Act == actHold && head != nil && slices.Contains(head.Told, d.Why)
	wait := tidyPace - now.Sub(r.UpdatedAt)
	if wait <= 0 || wait > tidyPace { // or the clock was set back
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

// decideEnd says whether the session is over. A pane that tmux has forgotten
// without an exit status is lost if it was ever ready; all else that ended is
// concluded with what is known. An adopted pane is a person's, to close as well.
func decideEnd(r session.Record, v View) (d decision, over bool) {
	switch {
	case !v.ended():
		return decision{}, false
	case v.Fate == PaneDead || v.Adopted || r.State != session.Running:
		return decision{Act: actConclude}, true
	}
	return decision{Act: actLost}, true
}

// decideStart waits for readiness: the agent reported in, is idle, shows an
// empty prompt box and asks nothing.
func decideStart(r session.Record, v View, head *Prompt) decision {
	age := launchAge(&r, v.Now)
	reported := !r.ReportsAt.IsZero()
	switch {
	case v.TypeSafe() && (reported && v.Present || age >= presenceGrace):
		return decision{Act: actReady, Again: soon}
	case v.DialogOpen():
		d := decideDialog(r, v, head)
		d.Again = min(d.Again, backoff(age))
		return d
	case age >= StartNotice:
		return decision{Act: actNotReport, Again: backoff(age)}
	}
	return decision{Again: backoff(age)}
}

// soon is the pace at which a screen is looked at that is about to change: the
// terminal draws a little later than presence files and hooks tell.
const soon = 150 * time.Millisecond

// backoff is the pace of looking at a start that takes its time: a tenth of its
// age, between soon and half a minute.
func backoff(age time.Duration) time.Duration {
	return min(max(age/10, soon), 30*time.Second)
}

// decideDialog tells what the terminal asks, unless the chat has the question as
// a request of its own, or may have it in a moment.
func decideDialog(r session.Record, v View, head *Prompt) decision {
	held := head != nil && head.waits()
	wait := relayWait(r, v)
	answered := v.Screen.Dialog != nil && v.Present && !v.Phase().Waiting()
	switch {
	case answered && v.Now.Sub(v.Presence.UpdatedAt) < drawn:
		return decision{Again: soon} // the screen still shows what was answered
	case v.Screen.Dialog == nil && v.Now.Sub(v.Presence.UpdatedAt) < drawn:
		return decision{Again: soon} // presence is a little ahead of the screen
	case !held && opened(v, head):
		return decision{Act: actProven, Again: soon}
	case v.Relayed && held:
		return decision{Act: actHold, Why: news.HeldDialog, Again: slow}
	case v.Relayed:
		return decision{Again: slow}
	case wait > 0:
		return decision{Again: wait}
	case held:
		return decision{Act: actDialog, Why: news.HeldDialog, Again: slow}
	}
	if head.entered() && v.Now.Sub(head.Mark.At) < proofWait {
		return decision{Act: actDialog, Again: enterRetry} // its proof may still come
	}
	return decision{Act: actDialog, Again: slow}
}

// opened says whether a slash command was taken: after its Enter the page that
// it opens stands where the box with it was.
func opened(v View, p *Prompt) bool {
	return p != nil && p.submitted() &&
		v.Fate == PaneOurs && v.Agent == process.Alive && v.Screen.Dialog != nil
}

// drawn is the age at which a dialog that presence speaks of must be on the
// screen; if it is not recognised then, the screen is told as it is.
const drawn = time.Second

// slow is how often a screen is looked at that waits for a person.
const slow = 30 * time.Second

// decideTyping waits for the proof that a typed prompt arrived. Hook events bring it for prompts; here
// the screen is asked whether a slash command was taken. All else is decideTyped's.
func decideTyping(v View, p *Prompt, hooked bool) decision {
	if p.Mark == nil {
		return decision{Act: actUnproven} // a file that was edited
	}
	age := v.Now.Sub(p.Mark.At)
	waited := min(age, v.Now.Sub(p.Since))
	switch {
	case p.Mark.Retreat && v.boxFree():
		return decision{Act: actClear}
	case p.Mark.Retreat && v.Phase() == PhaseWorking && v.Below != "":
		return decision{Act: actHold, Why: news.HeldDialog, Again: slow}
	case p.Mark.Retreat && age < proofWait:
		return decision{Again: 5 * soon}
	case p.Mark.Retreat && v.Phase() == PhaseWorking:
		return decision{Act: actHold, Why: news.Queued, Again: slow}
	case p.Mark.Retreat:
		return decision{Act: actHold, Why: news.HeldUnknown, Again: slow}
	case p.submitted() && age >= soon && boxWithout(v, p), p.runs(v):
		return decision{Act: actProven}
	case hooked && p.Class != ClassBash && waited >= 0 && waited < stillFor:
		return decision{Again: max(soon, waited/2)} // a hook tells it in a moment
	}
	return decision{Act: actSettle}
}

// clues are what is known of a typed prompt beside what the terminal shows. The zero Clues say that
// nothing speaks for its arrival, and nothing against typing on, apart from a person at the desk.
type clues struct {
	Arrived bool   // a hook's event or a line of a transcript shows it: taken, or refused by a hook
	Unheard bool   // events of hooks wait to be heard: its proof may be among them
	Doubt   string // why neither Enter nor another paste may follow by itself; empty: nothing speaks against it
	Pasted  bool   // tmux has taken the paste of this process: an empty box will have it
	Quiet   bool   // tmux shows that no key was pressed at the desk since the mark
	// Reported says that hooks have reported from this launch: a prompt that was taken has left an event.
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

// decideTyped says what is done about a prompt that was typed and of whose arrival the terminal
// shows nothing. The first row that holds decides. It is pure.
//
//	it has arrived                                        it is done, whatever the box shows
//	events wait to be heard, a turn runs, the agent asks  wait, however long
//	the box of the idle agent stays the same for 2 s, and nothing speaks against it:
//	    it is literally the text, Enter never pressed     press Enter: only ccbot can have typed it
//	    it shows the text, and nobody was at the desk     press Enter: it was lost
//	    it is empty, Enter never pressed, nobody there    paste anew, once, if ccbot died before it knew of a paste
//	    it shows the text, and ccbot has pressed Esc      take it out: it was not carried out; the person decides
//	something speaks against it, or no proof has come     the person decides
func decideTyped(v View, p *Prompt, c clues) decision {
	shows := v.boxFree() && p.shows(v.Screen.Box)
	empty := v.boxFree() && v.Screen.Box.Empty && !v.Screen.Box.Bash
	still := v.Present && v.boxFree() && v.Still >= stillFor // the screen alone does not prove an idle agent
	waited := min(v.Now.Sub(p.Mark.At), v.Now.Sub(p.Since))
	switch {
	case c.Arrived:
		return decision{Act: actProven}
	case c.Unheard && waited < markFor:
		return decision{Again: 2 * soon}
	case !v.idle() && v.Phase() == PhaseWorking && v.Below != "":
		return decision{Act: actHold, Why: news.HeldDialog, Again: holdPace} // what waits behind it is told
	case !v.idle() && v.Phase() == PhaseWorking || v.Phase().Waiting():
		return decision{Again: holdPace}
	case still && c.Doubt == "" && shows && p.Mark.Enters == 0 && v.Screen.Box.Whole():
		return decision{Act: actEnter, Again: enterRetry}
	case still && c.Doubt == "" && shows && c.Quiet && c.Reported && p.Mark.Enters < maxEnters:
		if wait := enterRetry*time.Duration(p.Mark.Enters) - v.Now.Sub(p.Mark.At); wait > 0 {
			return decision{Again: wait}
		}
		return decision{Act: actEnter, Again: enterRetry}
	case still && c.Doubt == "" && empty && c.Quiet && !c.Pasted && p.Mark.Enters == 0 && !p.Repeated && p.Class != ClassBash:
		if waited < repeatWait {
			return decision{Again: repeatWait - waited}
		}
		return decision{Act: actRepeat, Again: soon}
	case still && c.Doubt == doubtEsc && shows && (v.Screen.Box.Whole() || c.Quiet):
		return decision{Act: actTakeBack}
	case still && c.Doubt != "", waited >= proofWait:
		return decision{Act: actUnproven}
	}
	return decision{Again: soon + min(enterRetry, max(waited, 0)/2)}
}

// boxWithout says whether the living agent's box is seen, without the text: what
// was not taken would still stand there, also while a person scrolls.
func boxWithout(v View, p *Prompt) bool {
	return v.Agent == process.Alive && v.Fate == PaneOurs && v.Captured && v.Screen.Box.Present && !p.shows(v.Screen.Box)
}

// decideHeld types when it is safe, and otherwise says what the prompt waits
// for.
func decideHeld(r session.Record, v View, p *Prompt) decision {
	waited := v.Now.Sub(p.Since)
	settled := min(waited, v.Now.Sub(v.Presence.UpdatedAt)) // the screen is a little behind presence
	switch {
	case v.Agent == process.Gone || v.Fate == PaneDead || v.Agent != process.Alive && waited < queueNotice:
		return decision{Again: 2 * time.Second} // it is ending: kernel and tmux tell one after the other
	case v.Agent != process.Alive || v.Fate != PaneOurs:
		return decision{Act: actHold, Why: news.HeldUnknown, Again: slow}
	case v.TypeSafe() && inFront(r, v):
		return decision{Act: actType, Again: soon}
	case v.Phase() == PhaseWorking && v.Below != "":
		return decision{Act: actHold, Why: news.HeldDialog, Again: slow} // the work goes on when a person has answered
	case v.Behind && waited >= queueNotice: // whatever it says of itself: it may be stopped in a turn
		return decision{Act: actHold, Why: news.HeldUnknown, Again: holdPace}
	case v.Phase() == PhaseWorking && waited < queueNotice:
		return decision{Again: queueNotice - waited} // most turns are over before it is worth a word
	case v.Phase() == PhaseWorking && v.Present:
		return decision{Act: actHold, Why: news.Queued} // presence tells the end of the turn
	case v.Phase() == PhaseWorking:
		return decision{Act: actHold, Why: news.Queued, Again: holdPace}
	case v.boxFree() && v.Screen.Box.Bash:
		return decision{Act: actHold, Why: news.HeldBash, Again: holdPace}
	case v.boxFree() && !v.Screen.Box.Empty && v.Still < stillFor:
		return decision{Again: stillFor - v.Still} // the screen may still show what was entered before
	case v.boxFree() && p.literally(v.Screen.Box): // left there by a crash; a person's would be submitted as well
		return decision{Act: actClear, Again: holdPace}
	case v.boxFree() && !v.Screen.Box.Empty:
		return decision{Act: actHold, Why: news.HeldDraft, Again: holdPace}
	case settled < queueNotice:
		return decision{Again: 2 * soon} // idle by its own word, the screen follows
	}
	return decision{Act: actHold, Why: news.HeldUnknown, Again: holdPace}
}

// inFront says whether tmux sees the agent in front of the pane; else it would
// refuse the keys.
func inFront(r session.Record, v View) bool {
	return r.Binding != nil && (r.Binding.Command == "" || v.Pane.Command == r.Binding.Command)
}

// holdPace is how often a box is looked at that is not free: nothing tells when
// a person has cleared it.
const holdPace = 5 * time.Second
