package jsonl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"ccbot/agent/history"
	"ccbot/internal/wording"
	"ccbot/port/talk"
)

// backwards reads a transcript from a place towards its beginning, in chunks of whole lines.
type backwards struct {
	form  *Form
	file  *os.File
	ctx   context.Context
	path  string
	end   int64 // of the chunk that is read next: a line ends there
	last  int64 // nothing before it is read
	size  int64 // of a chunk; lines may make one longer
	data  []byte
	alone *Reader // has the long line that was returned last
}

// openBackwards begins at a place where a line ends, or at the end. ErrTruncated: no line ends
// there.
func (f *Form) openBackwards(ctx context.Context, path string, before, size int64) (*backwards, error) {
	if before == history.End {
		end, err := End(path)
		if err != nil {
			return nil, err
		}
		before = end.Offset
	}
	file, _, err := OpenFile(path)
	if err != nil {
		return nil, fmt.Errorf("open transcript: %w", err)
	}
	r := f.Open(talk.Cursor{Path: path, Offset: before})
	if err := r.seek(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &backwards{form: f, file: file, ctx: ctx, path: path, end: before, size: size}, nil
}

func (b *backwards) close() {
	b.release()
	_ = b.file.Close()
}

// release frees the memory of a long line.
func (b *backwards) release() {
	if b.alone != nil {
		_ = b.alone.Close() // it was only read
		b.alone = nil
	}
}

// chunks calls see with the lines before the place, the last ones first, until it returns false or
// all are read. They are valid until see returns. A long line comes alone. The call is noted on
// disk.
func (b *backwards) chunks(see func(lines Line) bool) error {
	return Noted(b.path, func() error {
		for {
			b.release()
			lines, err := b.next()
			if err != nil || lines.Text == nil || !see(lines) {
				return err
			}
		}
	})
}

// next returns the lines before those that it returned last; no text: it was at the beginning.
func (b *backwards) next() (lines Line, err error) {
	for size := b.size; b.end > b.last; size *= 2 {
		if err := b.ctx.Err(); err != nil {
			return lines, err
		}
		start := max(b.last, b.end-size)
		if n := b.end - start; int64(cap(b.data)) < n {
			b.data = make([]byte, n)
		}
		text := b.data[:b.end-start]
		if err := b.read(text, start); err != nil {
			return lines, err
		}
		if start > 0 { // the first line may begin before
			first := bytes.IndexByte(text, '\n') + 1
			switch {
			case first > 0 && first < len(text):
				text, start = text[first:], start+int64(first)
			case start == b.last: // the line begins too far back
				b.end = start
				return lines, nil
			case size < longLine:
				continue
			default:
				return b.longLine(start)
			}
		}
		lines = Line{Text: text, At: start, End: b.end}
		b.end = start
		return lines, nil
	}
	return lines, nil
}

func (b *backwards) read(into []byte, at int64) error {
	if _, err := b.file.ReadAt(into, at); errors.Is(err, io.EOF) {
		return wording.Errorf("%w: %s became shorter", history.ErrTruncated, wording.Path(b.path))
	} else if err != nil {
		return fmt.Errorf("read transcript: %w", err)
	}
	return nil
}

// longLine returns the line that ends at b.end and begins before a place.
func (b *backwards) longLine(before int64) (l Line, err error) {
	piece := make([]byte, min(keptBuffer, before))
	for begin := before; ; begin -= int64(len(piece)) {
		if err := b.ctx.Err(); err != nil {
			return l, err
		}
		if begin <= b.last && b.last > 0 {
			b.end = b.last // it begins too far back
			return l, nil
		}
		piece = piece[:min(int64(len(piece)), begin)]
		if err := b.read(piece, begin-int64(len(piece))); err != nil {
			return l, err
		}
		if i := bytes.LastIndexByte(piece, '\n'); i >= 0 || begin == int64(len(piece)) {
			b.data = nil
			b.alone = b.form.Open(talk.Cursor{Path: b.path, Offset: begin - int64(len(piece)) + int64(i) + 1})
			break
		}
	}
	l, ok, err := b.alone.readLine()
	if err == nil && (!ok || l.End != b.end) {
		err = wording.Errorf("%w: %s was written anew", history.ErrTruncated, wording.Path(b.path))
	}
	if b.end = l.At; l.Text == nil {
		l.Text = []byte{'\n'} // there is nothing to read in it, but more before it
	}
	return l, err
}

// part returns one of several lines.
func (l Line) part(begin, end int) Line {
	if l.short != nil {
		return l
	}
	return Line{Text: l.Text[begin:end], At: l.At + int64(begin), End: l.At + int64(end)}
}

// each calls see with the lines from the last to the first, until it returns false or all are read.
func (b *backwards) each(see func(l Line) bool) error {
	return b.chunks(func(lines Line) bool {
		for end := len(lines.Text); end > 0; {
			begin := bytes.LastIndexByte(lines.Text[:end-1], '\n') + 1
			if !see(lines.part(begin, end)) {
				return false
			}
			end = begin
		}
		return true
	})
}
