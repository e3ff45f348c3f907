package news

import (
	"time"

	"github.com/google/uuid"

	"ccbot/port"
	"ccbot/port/talk"
)

// News is news about a session: a value of another type of this file.
type News interface{ IsNews() }

// Piece makes a type that embeds it one of the News, without a store: a start finds the fact again,
// because a terminal, a transcript, the record or the entry of a prompt still shows it.
type Piece struct{}

// IsNews implements News.
func (Piece) IsNews() {}

// Ready reports that the agent waits for the first prompt.
type Ready struct {
	Kept
	Answerers []talk.Answerer // settings of the project that may answer requests before a person
	Moved     bool            // the agent has gone into another folder by itself
	InAuto    bool            // it has begun in auto mode although the launch asked for bypass
}

// NotReporting reports that the agent is not ready after a while.
type NotReporting struct {
	Piece
	Waited time.Duration // since the start
	Terminal
}

// Dialog reports that the terminal shows a dialog.
type Dialog struct {
	Piece
	Terminal
}

// Ended reports that the agent exited by itself; the session's Exit describes how.
type Ended struct {
	Kept
	Screen   string // the terminal's last content
	ByPerson bool   // a person decided it
	Attach   string // the command that shows the conversation in the agent's own background; empty: it does not go on there
}

// Stopped is the receipt of an archive. Unproven facts are in the session's Failures.
type Stopped struct {
	Kept
	Endings []port.Ending // the agent first; ended and spared processes
	Stays   bool          // programs in its window that are not ccbot's stay open
	Quiet   time.Duration // it was archived after this time without activity; 0: a person asked
	By      int64         // that person in the chat; 0: at the desk, or unknown
	// Together reports that the caller reports an ordinary end, together with other sessions.
	Together bool
}

// Spared reports that a session is not archived although nothing has happened in it for long: schedules of its own would end with
// it. A crash may lose it; it is reported again a day later.
type Spared struct {
	Piece
	Quiet     time.Duration
	Schedules int
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
	Kept
	ByPerson bool // a person decided it
}

// Moved reports that the agent has gone into another folder.
type Moved struct{ Kept }

// Renamed reports that the session has a new name.
type Renamed struct{ Piece }

// Switched reports the outcome of a request for a mode or a model: one of the two is set.
type Switched struct {
	Kept
	port.ModeChange
	Outcome port.SwitchOutcome
	Seen    port.Mode // the mode on the screen; empty: none
	Waited  bool      // a notice was sent that the request waits for the prompt box
}

type (
	// Failed reports that the agent ended before it was ready.
	Failed struct {
		Kept
		Screen string
		In     string // ccbot has ended it, because it was in this folder instead of the session's
	}
	// Lost reports that the pane is proven gone.
	Lost struct{ Kept }
	// DialogGone reports that a dialog of the terminal or a request has closed.
	DialogGone struct{ Piece }
	// Typed reports that Enter was pressed after a prompt. It is sent again if Enter is repeated.
	Typed struct {
		Piece
		talk.Prompt
	}
	// Delivered reports proof that the agent has a prompt.
	Delivered struct {
		Piece
		talk.Prompt
	}
	// Doing reports a new activity of the agent. A crash may lose it; the record has the activity.
	Doing struct{ Piece }
	// TakenBack reports that a stop is about to remove a prompt from the box or the queue. Work is
	// the text of the prompt that the agent then works on; empty: none, or unknown. AtBorder means that no
	// stop does so: the prompt was written in a group, and its turn would let the group read what was
	// said in another chat.
	TakenBack struct {
		Piece
		talk.Prompt
		Work     string
		AtBorder bool `json:",omitempty"`
	}
	// Requeued reports that prompts of a session's queue were added, removed, moved or changed. It
	// is sent after the change is on disk.
	Requeued struct{ Piece }
	// DraftCleared reports that a person's draft is about to be removed from the box.
	DraftCleared struct {
		Piece
		Draft string
	}
	// Retrying reports that requests of the agent fail and are repeated, which takes a while.
	Retrying struct {
		Piece
		Now talk.Activity
	}
	// Looped reports that a loop of the session has begun, is paused or has ended.
	Looped struct {
		Piece
		port.Loop
	}
	// Scheduled reports a run of a schedule of the session that was sent or skipped, or the end of a
	// schedule. A forgotten session has only its name and conversation.
	Scheduled struct {
		Piece
		port.Schedule
		Report port.ScheduleReport
	}
	// Opened reports that the machine itself has started the session, for a loop, or has brought it
	// back, for a schedule. It runs on no worker.
	Opened struct {
		Piece
		Back bool
	}
	// FileOffered reports that the agent sends a file of the session's folder to the chat, which
	// reports the outcome with [ccbot/port/folders.Files.Offered]. It runs on no worker.
	FileOffered struct {
		Piece
		ID      uuid.UUID
		Path    string // its address
		Caption string
	}
	// OtherWriters lists the other writers of the session's conversation. None: unknown.
	OtherWriters []port.Writer
	// Transcript reports that a transcript exists.
	Transcript struct{ Piece }
)

// IsNews implements News.
func (OtherWriters) IsNews() {}

func (OtherWriters) isKept() {}

// IsEnd reports whether news report that the agent of a session has ended.
func IsEnd(n News) bool {
	switch n.(type) {
	case Ended, Lost, Stopped, Failed:
		return true
	}
	return false
}
