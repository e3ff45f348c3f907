package view

import (
	"errors"
	"io/fs"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/presence"
	"ccbot/internal/process"
	"ccbot/port/talk"
)

// AgentState is the state that an agent has written into its presence file. The zero value is
// unknown: nothing is typed, pressed or concluded because of it.
type AgentState struct {
	Known Knowledge
	Phase talk.Phase // empty unless Known is StateWritten; PhaseUnknown if ccbot does not know the agent's word
	Asks  Asks       // valid if Phase is a waiting one
	Since time.Time  // when the agent wrote it; zero unless Known is StateWritten
	// Conversation is the one that the agent is in; uuid.Nil if that is not known.
	Conversation uuid.UUID
}

// Knowledge is the source of an agent's state.
type Knowledge int

const (
	StateUnknown   Knowledge = iota // the file is unreadable, has no state, or was not read
	StateUnwritten                  // the agent has written no file: only its screen shows what it does
	StateWritten                    // the file has the state
)

// Asks is the kind of answer that an agent waits for.
type Asks int

const (
	AsksElse       Asks = iota // a dialog that no hook brings to the chat
	AsksPermission             // older versions (2.1.197) also name a question so
	AsksAnswer
)

// StateOf returns the state of an agent from the presence file of its pid, or from the error of
// reading it.
func StateOf(agent process.Identity, f presence.File, err error) AgentState {
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && f.ProcStart != agent.Start: // of an earlier process with the pid
		return AgentState{Known: StateUnwritten}
	case err != nil:
		return AgentState{}
	case f.Status == "":
		return AgentState{Conversation: f.SessionID}
	}
	s := AgentState{Known: StateWritten, Phase: talk.PhaseUnknown, Since: f.UpdatedAt, Conversation: f.SessionID}
	switch f.Status {
	case presence.Idle:
		s.Phase = talk.PhaseIdle
	case presence.Busy:
		s.Phase = talk.PhaseWorking
	case presence.Waiting:
		s.Phase = talk.PhaseWaitingPermission
		switch f.WaitingFor {
		case "permission prompt":
			s.Asks = AsksPermission
		case "input needed":
			s.Phase, s.Asks = talk.PhaseWaitingAnswer, AsksAnswer
		}
	}
	return s
}
