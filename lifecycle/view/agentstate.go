package view

import (
	"errors"
	"io/fs"
	"time"

	"github.com/google/uuid"

	"ccbot/agent/witness"
	"ccbot/internal/clip"
	"ccbot/internal/process"
	"ccbot/port/talk"
)

// AgentState is the state that an agent has written into its presence file. The zero value is
// unknown: nothing is typed, pressed or concluded because of it.
type AgentState struct {
	Known Knowledge
	Phase talk.Phase // empty unless Known is StateWritten; PhaseUnknown if Word is set
	Word  string     // the agent's word for its state, if ccbot does not know that word
	// Attach is the command that shows the conversation, if the agent has moved it into its own
	// background; then it is not in the window, and Phase is PhaseUnknown.
	Attach string
	Asks   Asks // valid if Phase is a waiting one
	// Since is when the agent wrote the file, and with a Word since when it says that word. It is zero
	// unless Known is StateWritten.
	Since time.Time
	// Conversation is the one that the agent is in; uuid.Nil if that is not known.
	Conversation uuid.UUID
	// Dir is the folder in which the agent says that it works; empty if it does not say that.
	Dir string
}

// Knowledge is the source of an agent's state.
type Knowledge int

const (
	StateUnknown   Knowledge = iota // the file is unreadable, has no state, or was not read
	StateUnwritten                  // the agent has written no file: only its screen shows what it does
	StateWritten                    // the file has the state
)

// Decides reports whether the agent's word says what it does. Otherwise only its screen can.
func (s AgentState) Decides() bool { return s.Known == StateWritten && s.Word == "" }

// IsUnclear reports whether the agent has a state that ccbot cannot read.
func (s AgentState) IsUnclear() bool {
	return s.Known == StateUnknown || s.Word != "" || s.Attach != ""
}

// wordWait is how long a word that ccbot does not know counts. A later version of the agent may use
// it for a moment of a turn; after that the screen may show that the agent is idle.
const wordWait = 5 * time.Second

// maxWord bounds the letters of a word that ccbot does not know.
const maxWord = 40

// Asks is the kind of answer that an agent waits for.
type Asks int

const (
	AsksElse       Asks = iota // a dialog that no hook brings to the chat
	AsksPermission             // an agent may also name a question so
	AsksAnswer
	AsksPage // a dialog of no turn: a list that a person has opened, or what the program itself asks, such as about managed settings
)

// StateOf returns the state of an agent from the presence file of its pid, or from the error of
// reading it.
func StateOf(who process.Identity, f witness.Presence, err error) AgentState {
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && f.ProcStart != who.Start: // of an earlier process with the pid
		return AgentState{Known: StateUnwritten}
	case err != nil:
		return AgentState{}
	case f.Status == "":
		return AgentState{Conversation: f.SessionID, Dir: f.Dir}
	}
	s := AgentState{Known: StateWritten, Phase: talk.PhaseUnknown, Since: f.UpdatedAt, Conversation: f.SessionID, Dir: f.Dir}
	if s.Attach = f.Attach; s.Attach != "" {
		return s
	}
	switch f.Status {
	case witness.Idle, witness.Shell:
		s.Phase = talk.PhaseIdle
	case witness.Busy:
		s.Phase = talk.PhaseWorking
	case witness.Waiting:
		s.Phase = talk.PhaseWaitingPermission
		switch {
		case f.Permission:
			s.Asks = AsksPermission
		case f.Answer:
			s.Phase, s.Asks = talk.PhaseWaitingAnswer, AsksAnswer
		case f.Page:
			s.Asks = AsksPage
		}
	default:
		s.Word = clip.Runes(string(f.Status), maxWord)
		if !f.StatusAt.IsZero() {
			s.Since = f.StatusAt
		}
	}
	return s
}
