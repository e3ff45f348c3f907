package jsonl

import (
	"errors"
	"os"

	"ccbot/agent/history"
	"ccbot/port/talk"
)

// farthestFrom is the distance before the end at which the work of a conversation begins that is
// new to a record: a person waits for a resume, and for all of a long conversation that would take
// seconds.
const farthestFrom = 8 << 20

// Advance reads on to the present end of a transcript, by whole lines. A path other than the
// previous one is another conversation, and a file that was cut is read again: of both, no more
// than the last 8 MiB are read. If there is no file, or an error, p comes back as it is.
//
// begin is called with the progress that each read continues. It returns take, which adds a line to
// it, and end, which is called after the last line; nil: there is nothing to do. Neither changes
// what an earlier progress points to.
func (f *Form) Advance(p history.Progress, path string, begin func(p *history.Progress) (take func(text []byte), end func())) (history.Progress, error) {
	if path == "" {
		return p, nil
	}
	from := p
	if path != p.Path {
		from = history.Progress{Path: path, TurnsWell: p.TurnsWell}
	}
	found, err := f.readOn(&from, begin)
	if errors.Is(err, history.ErrTruncated) {
		from = history.Progress{Path: path}
		found, err = f.readOn(&from, begin)
	}
	if err != nil || !found {
		return p, err
	}
	return from, nil
}

// readOn continues a progress. A new one begins not too far back.
func (f *Form) readOn(p *history.Progress, begin func(p *history.Progress) (take func(text []byte), end func())) (found bool, err error) {
	anew := p.Offset == 0
	if info, err := os.Stat(p.Path); anew && err == nil { // open returns the error
		p.From = max(0, info.Size()-farthestFrom)
		p.Offset = p.From
	}
	r := f.Open(talk.Cursor{Path: p.Path, Offset: p.Offset})
	r.Loose = anew
	defer r.Close() // it was only read
	take, end := begin(p)
	err = r.Each(func(l Line) bool {
		take(l.Text)
		p.Offset = r.next
		return true
	})
	if end != nil {
		end()
	}
	return r.file != nil, err
}
