package lifecycle

import (
	"time"

	"ccbot/internal/presence"
)

// Times of a typed prompt whose arrival is not proven.
const (
	stillFor   = 2 * time.Second  // an idle agent whose box stays the same this long has nothing left to do with it
	EnterRetry = 3 * time.Second  // text still in the box this long after Enter: Enter was lost
	ProofWait  = 20 * time.Second // no proof after this: the person decides
	markFor    = 10 * time.Minute // what is older is not acted on by itself
	maxEnters  = 3
)

// Clues are what is known of a typed prompt beside what the terminal shows. The zero Clues say that
// nothing speaks for its arrival, and nothing against typing on, apart from a person at the desk.
type Clues struct {
	Arrived bool   // a hook's event or a line of a transcript shows it: taken, or refused by a hook
	Unheard bool   // events of hooks wait to be heard: its proof may be among them
	Doubt   string // why neither Enter nor another paste may follow by itself; empty: nothing speaks against it
	Alone   bool   // hooks have reported from this launch, and no key was pressed at the desk since the mark
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
//	events wait to be heard, the agent works or asks      wait, however long
//	the box of the idle agent stays the same for 2 s, and nothing speaks against it:
//	    it is literally the text, Enter never pressed     press Enter: only ccbot can have typed it
//	    it shows the text, and nobody was at the desk     press Enter: it was lost
//	    it is empty, Enter never pressed                  paste anew, once
//	something speaks against it, or no proof has come     the person decides
func decideTyped(v View, p *Prompt, c Clues) Decision {
	shows := v.boxFree() && p.shows(v.Screen.Box)
	empty := v.boxFree() && v.Screen.Box.Empty && !v.Screen.Box.Bash
	idle := v.Present && v.Presence.Status == presence.Idle // by its own word, not by the screen
	still := idle && v.boxFree() && v.Still >= stillFor
	waited := min(v.Now.Sub(p.Mark.At), v.Now.Sub(p.Since))
	switch {
	case c.Arrived:
		return Decision{Act: ActProven}
	case c.Unheard && waited < markFor:
		return Decision{Again: 2 * soon}
	case v.Phase() == PhaseWorking || v.Phase().Waiting():
		return Decision{Again: holdPace}
	case still && c.Doubt == "" && shows && p.Mark.Enters == 0 && v.Screen.Box.Whole():
		return Decision{Act: ActEnter, Again: EnterRetry}
	case still && c.Doubt == "" && shows && c.Alone && p.Mark.Enters < maxEnters:
		if wait := EnterRetry*time.Duration(p.Mark.Enters) - v.Now.Sub(p.Mark.At); wait > 0 {
			return Decision{Again: wait}
		}
		return Decision{Act: ActEnter, Again: EnterRetry}
	case still && c.Doubt == "" && empty && p.Mark.Enters == 0 && !p.Repeated && p.Class != ClassBash:
		return Decision{Act: ActRepeat, Again: soon}
	case still && c.Doubt != "", waited >= ProofWait:
		return Decision{Act: ActUnproven}
	}
	return Decision{Again: soon + min(EnterRetry, max(waited, 0)/2)}
}
