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

// Ready says that the agent waits for the first prompt.
type Ready struct {
	Piece
	Answerers []talk.Answerer // what in the project may answer requests before a person
}

// NotReporting says that the agent is not ready after a while.
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

// Ended says that the agent ended by itself; the session's Exit says how.
type Ended struct {
	Piece
	Screen string // what the terminal showed at last
	Asked  bool   // a person has decided it
}

// Stopped says what an archive did. What could not be proven stands in the session.
type Stopped struct {
	Piece
	Endings []port.Ending // the agent first; what ended, and what was spared
	Stays   bool          // what is not ccbot's in its window stays open
	Quiet   time.Duration // it was archived because nothing happened for this long; 0: a person asked
	// Together says that who has asked for the end of several sessions tells an ordinary one.
	Together bool
}

// Held says why a prompt waits.
type Held struct {
	Piece
	talk.Prompt
	Why Wait
	Now talk.Activity // what the agent does

	File, Binding string // of HeldKeys: the file with the person's key bindings, and the binding
}

// Unproven says that a prompt was perhaps typed, and that there is no proof: the person decides.
type Unproven struct {
	Piece
	talk.Prompt
	InBox bool // the text is seen in the prompt box, not submitted
}

// Transferred says that the session continues in a window that a person opened.
type Transferred struct {
	Piece
	Asked bool // a person has decided it
}

// Renamed says that the session has another name than before.
type Renamed struct{ Piece }

// Switched says what came of a wish for a permission mode or a model: one of the two is set.
type Switched struct {
	Piece
	port.ModeChange
	Outcome port.SwitchOutcome
	Seen    port.Mode // the mode that the screen shows then; empty: none
	Waited  bool      // a person was told that it takes until the prompt box is free
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
