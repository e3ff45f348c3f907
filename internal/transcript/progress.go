package transcript

import (
	"errors"
	"os"
	"slices"
	"time"

	"ccbot/port"
	"ccbot/port/talk"
)

// Progress is the work so far, as a transcript shows it up to an offset.
type Progress struct {
	Path string `json:"path"`
	// The offset of its beginning; 0: the beginning of the transcript.
	From   int64 `json:"from,omitempty"`
	Offset int64 `json:"offset"`
	Turns  int   `json:"turns"` // that have ended
	// LastTurn is the end of the last turn.
	LastTurn time.Time `json:"last_turn_at,omitzero"`
	// Well counts the turns that were neither interrupted nor ended by an error, also in the
	// conversations before this one.
	Well  int    `json:"turns_well,omitempty"`
	Open  *Turn  `json:"open_turn,omitempty"` // the turn that has not ended; nil: none
	Model string `json:"model,omitempty"`     // id, of the last answer
	// Requested is that model as --model takes it. It can differ from the answer's id: that id
	// lacks a "[1m]", and with a gateway it may be another model. Versions before 2.1.328 do not
	// write it.
	Requested string `json:"requested_model,omitempty"`
	// Failed is the failure of the last turn, or the reason why a prompt began none. The zero
	// value: there was no failure, or the agent has continued since.
	Failed         Failure     `json:"failed,omitzero"`
	PermissionMode string      `json:"permission_mode,omitempty"` // Claude Code's, the last that it noted
	Tasks          []port.Task `json:"tasks,omitempty"`           // the agent's own to-do items
	Tokens         port.Tokens `json:"tokens"`
	// Id of the last message with counted tokens: each of its lines repeats them.
	LastMessage string `json:"last_message,omitempty"`
}

// Turn is a turn that has begun and not ended.
type Turn struct {
	At time.Time `json:"at,omitzero"` // of its newest line
	// Its last tool call, in one line; calls for to-do items do not count; empty: none yet.
	Step string `json:"step,omitempty"`
}

// Same reports whether two values describe the same work, no matter up to which offset they were
// read.
func (p Progress) Same(other Progress) bool {
	open := p.Open == other.Open || p.Open != nil && other.Open != nil && *p.Open == *other.Open
	return open && p.Failed == other.Failed && p.Path == other.Path && p.From == other.From && p.Turns == other.Turns &&
		p.LastTurn.Equal(other.LastTurn) && p.Model == other.Model &&
		p.Requested == other.Requested && p.PermissionMode == other.PermissionMode && p.Tokens == other.Tokens && slices.Equal(p.Tasks, other.Tasks)
}

// farthestFrom is the distance before the end at which the work of a conversation begins that is
// new to a record: a person waits for a resume, and for all of a long conversation that would take
// seconds.
const farthestFrom = 8 << 20

// Advance reads on to the present end of a transcript, by whole lines. A path other than the
// previous one is another conversation, and a file that was cut is read again: of both, no more
// than the last 8 MiB are read. If there is no file, or an error, p comes back as it is. A call of
// a task tool that has no result yet is left for the next time, together with everything after it.
func (p Progress) Advance(path string) (Progress, error) {
	if path == "" {
		return p, nil
	}
	from := p
	if path != p.Path {
		from = Progress{Path: path, Well: p.Well}
	}
	next, found, err := from.read()
	if errors.Is(err, ErrTruncated) {
		next, found, err = Progress{Path: path}.read()
	}
	if err != nil || !found {
		return p, err
	}
	return next, nil
}

func (p Progress) read() (next Progress, found bool, err error) {
	anew := p.Offset == 0
	if info, err := os.Stat(p.Path); anew && err == nil { // open returns the error
		p.From = max(0, info.Size()-farthestFrom)
		p.Offset = p.From
	}
	r := Open(talk.Cursor{Path: p.Path, Offset: p.Offset})
	defer r.Close()
	r.loose = anew
	t := tally{Progress: p, open: make(map[string]taskCall)}
	t.seen.first(p.LastMessage)
	err = r.each(func(l line) bool {
		t.take(l.text)
		t.Offset = r.next
		return true
	})
	return t.end(), r.file != nil, err
}
