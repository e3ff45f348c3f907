package news

import (
	"time"

	"ccbot/port"
	"ccbot/port/talk"
)

// News is one piece of news about a session: a value of one of the types below, which says what it is.
type News interface{ IsNews() }

// Piece makes a type that embeds it one of the News.
type Piece struct{}

// IsNews implements News.
func (Piece) IsNews() {}

// Ready reports that the agent waits for the first prompt.
type Ready struct {
	Piece
	Answerers []talk.Answerer // what in the project may answer requests before a person
}

// NotReporting reports that the agent is not ready after a while.
type NotReporting struct {
	Piece
	Waited time.Duration // since the start
	Terminal
}

// Dialog says that the terminal asks something.
type Dialog struct {
	Piece
	Terminal
}

// Ended reports that the agent exited by itself; the session's Exit describes how.
type Ended struct {
	Piece
	Screen string // what the terminal showed at last
	Asked  bool   // a person has decided it
}

// Stopped is the receipt of an archive. Unproven facts are in the session's Failures.
type Stopped struct {
	Piece
	Endings []port.Ending // the agent first; what ended, and what was spared
	Stays   bool          // what is not ccbot's in its window stays open
	Quiet   time.Duration // it was archived because nothing happened for this long; 0: a person asked
	// Together says that who has asked for the end of several sessions tells an ordinary one.
	Together bool
}

// Held reports that a prompt waits, and why.
type Held struct {
	Piece
	talk.Prompt
	Why Wait
	Now talk.Activity // the agent's activity

	File, Binding string // for HeldKeys: the person's file of key bindings, and the binding
}

// Unproven reports that a prompt may have been typed, without proof: the person decides.
type Unproven struct {
	Piece
	talk.Prompt
	InBox bool // the text is in the prompt box, not submitted
}

// Transferred reports that the session continues in a window that a person opened.
type Transferred struct {
	Piece
	Asked bool // a person has decided it
}

// Renamed says that the session has another name than before.
type Renamed struct{ Piece }

// Switched reports the outcome of a request for a mode or a model: one of the two is set.
type Switched struct {
	Piece
	port.ModeChange
	Outcome port.SwitchOutcome
	Seen    port.Mode // the mode on the screen; empty: none
	Waited  bool      // a notice was sent that the request waits for the prompt box
}

type (
	// Failed says that the agent ended before it was ever ready.
	Failed struct {
		Piece
		Screen string
	}
	// Lost says that the pane is proven gone.
	Lost struct{ Piece }
	// DialogGone says that what was asked, in the terminal or through a request, is not open any more.
	DialogGone struct{ Piece }
	// Typed says that Enter was pressed after a prompt. It is told each time, if one Enter is lost.
	Typed struct {
		Piece
		talk.Prompt
	}
	// Delivered says that there is proof that the agent has a prompt.
	Delivered struct {
		Piece
		talk.Prompt
	}
	// Doing says that the agent does something else than before. It may be lost in a crash: the record
	// has it.
	Doing struct{ Piece }
	// TakenBack says that a stop is about to take a prompt out of the box, or out of the queue. Work is the text of the
	// prompt that the agent works on then; empty: it works on none, or the prompt is unknown.
	TakenBack struct {
		Piece
		talk.Prompt
		Work string
	}
	// Requeued says that a session's queue has become another one: prompts were put into it, taken out or
	// moved, or have another text. It comes when that is on disk.
	Requeued struct{ Piece }
	// DraftCleared says that what a person had typed is about to be taken out of the box.
	DraftCleared struct {
		Piece
		Draft string
	}
	// Retrying says that requests of the agent fail and are made again, which takes a while.
	Retrying struct {
		Piece
		Now talk.Activity
	}
	// OtherWriters says who else writes the session's conversation. None: that is not known.
	OtherWriters []port.Writer
	// Transcript says that there is a transcript to follow.
	Transcript struct{ Piece }
)

// IsNews implements News.
func (OtherWriters) IsNews() {}
