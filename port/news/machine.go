package news

import (
	"time"

	"github.com/google/uuid"

	"ccbot/internal/address"
)

// Forgotten reports that the session is about to be forgotten. Afterwards the chat has nothing of
// it, and each person knows of the prompts that still waited. It is sent again after a crash.
type Forgotten struct{ Piece }

// News of the machine come with a session that has only the machine's id and name.
type (
	// Start reports the result of recovery at a start of the program. A failed report is repeated by
	// the next start.
	Start struct {
		Piece
		Repaired   []Repair
		Unclear    []uuid.UUID // sessions left alone because of contradicting evidence
		Newer      int         // records that an older program has not read; this one sends none
		Unreadable int         // records set aside
		Messages   int         // messages set aside, in both directions
		Booted     time.Time   // when the machine booted; zero: unknown
		Dir        string      // its address: ccbot's own folder there
	}
	// TmuxSilence reports that tmux does not answer, or answers again.
	TmuxSilence struct {
		Piece
		Ended bool
	}
	// FileUnread reports that a file of an agent is left unread.
	FileUnread struct {
		Piece
		Path string                 // its address
		To   []address.Conversation // of its sessions
	}
	// FilesDue asks which files from the chat, in a folder of sessions that have ended, no prompt
	// needs: they are old enough, and the chat removes them with folders.Received.Discard. The others
	// are asked about again.
	FilesDue struct {
		Piece
		Dir   string // its address
		Names []string
	}
)
