package news

import (
	"github.com/google/uuid"

	"ccbot/port/talk"
)

// Progress reports how far an engine has come with a prompt that the chat has offered. The engine
// keeps it until the chat has it: the files of its prompts show it, and a start reports it again.
// It comes without a session.
type Progress struct {
	Piece
	talk.Prompt
	Machine  string    // that reports it; empty: the chat's own
	Number   int64     // of the last offer or command that the engine has carried out
	Session  uuid.UUID // that has the prompt in its queue
	State    talk.PromptState
	Waits    []Wait // the reported reasons of its wait
	Repeated bool   // pasted a second time, because the first paste was missing
}
