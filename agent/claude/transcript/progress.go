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
func Advance(p Progress, path string) (Progress, error) { return advance(p, path, readOn) }

// Advance is the same for another form. take adds a line to the progress; it never changes what an
// earlier progress points to.
func (f *Form) Advance(p Progress, path string, take func(p *Progress, text []byte)) (Progress, error) {
	return advance(p, path, func(p Progress) (Progress, bool, error) {
		r, end := openProgress(f, &p)
		defer end()
		err := r.each(func(l line) bool {
			take(&p, l.text)
			p.Offset = r.next
			return true
		})
		return p, r.file != nil, err
	})
}

func advance(p Progress, path string, readOn func(Progress) (next Progress, found bool, err error)) (Progress, error) {
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
	r, end := openProgress(ClaudeForm(), &p)
	defer end()
	t := tally{Progress: p, open: make(map[string]taskCall)}
	t.seen.first(p.LastMessage)
	err = r.each(func(l line) bool {
		t.take(l.text)
		t.Offset = r.next
		return true
	})
	return t.end(), r.file != nil, err
}

// openProgress opens the file at the end of the progress. A new progress begins not too far back.
func openProgress(f *Form, p *Progress) (r *Reader, end func()) {
	anew := p.Offset == 0
	if info, err := os.Stat(p.Path); anew && err == nil { // open returns the error
		p.From = max(0, info.Size()-farthestFrom)
		p.Offset = p.From
	}
	r = f.Open(talk.Cursor{Path: p.Path, Offset: p.Offset})
	r.loose = anew
	return r, func() { _ = r.Close() } // it was only read
}
