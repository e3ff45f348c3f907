package transcript

import (
	"errors"
	"os"

	"ccbot/agent/history"
	"ccbot/port/talk"
)

// Progress is the work so far, as a transcript shows it up to an offset.
type Progress = history.Progress

// Turn is a turn that has begun and not ended.
type Turn = history.Turn

// farthestFrom is the distance before the end at which the work of a conversation begins that is
// new to a record: a person waits for a resume, and for all of a long conversation that would take
// seconds.
const farthestFrom = 8 << 20

// Advance reads on to the present end of a transcript, by whole lines. A path other than the
// previous one is another conversation, and a file that was cut is read again: of both, no more
// than the last 8 MiB are read. If there is no file, or an error, p comes back as it is. A call of
// a task tool that has no result yet is left for the next time, together with everything after it.
func Advance(p Progress, path string) (Progress, error) {
	if path == "" {
		return p, nil
	}
	from := p
	if path != p.Path {
		from = Progress{Path: path, Well: p.Well}
	}
	next, found, err := readOn(from)
	if errors.Is(err, ErrTruncated) {
		next, found, err = readOn(Progress{Path: path})
	}
	if err != nil || !found {
		return p, err
	}
	return next, nil
}

func readOn(p Progress) (next Progress, found bool, err error) {
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
