package transcript

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// backwards reads a transcript from a place towards its beginning, in chunks of whole lines.
type backwards struct {
	file *os.File
	ctx  context.Context
	path string
	end  int64 // of the chunk that is read next: a line ends there
	last int64 // nothing before it is read
	size int64 // of a chunk; lines may make one longer
	data []byte
	long held // data, if it holds a long line
}

// endOf stands for the end of the last whole line, where a place is asked for.
const endOf = -1

// openBackwards begins at a place where a line ends, or at the end. ErrTruncated: no line ends there.
func openBackwards(ctx context.Context, path string, before, size int64) (*backwards, error) {
	if before == endOf {
		end, err := End(path)
		if err != nil {
			return nil, err
		}
		before = end.Offset
	}
	file, _, err := openAnyones(path)
	if err != nil {
		return nil, fmt.Errorf("open transcript: %w", err)
	}
	r := Open(Cursor{Path: path, Offset: before})
	if err := r.seek(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &backwards{file: file, ctx: ctx, path: path, end: before, size: size}, nil
}

func (b *backwards) close() {
	b.long.release()
	_ = b.file.Close() // it was only read
}

// next gives the lines before those that it gave last, and where they begin; none: it was at the beginning.
// They are valid until the next call. A line longer than maxLine comes in pieces, which are no JSON.
func (b *backwards) next() (lines []byte, at int64, err error) {
	if b.long > 0 {
		b.data = nil
		b.long.release()
	}
	for size := b.size; b.end > b.last; size *= 2 {
		if err := b.ctx.Err(); err != nil {
			return nil, b.end, err
		}
		start := max(b.last, b.end-size)
		if n := b.end - start; int64(cap(b.data)) < n {
			if b.data = nil; n > max(b.size, longLine) {
				b.long.take(n)
			}
			b.data = make([]byte, n)
		}
		lines = b.data[:b.end-start]
		if _, err := b.file.ReadAt(lines, start); errors.Is(err, io.EOF) {
			return nil, b.end, fmt.Errorf("%w: %s became shorter", ErrTruncated, b.path)
		} else if err != nil {
			return nil, b.end, fmt.Errorf("read transcript: %w", err)
		}
		if start > 0 { // the first line may begin before
			first := bytes.IndexByte(lines, '\n') + 1
			if (first == 0 || first == len(lines)) && len(lines) < maxLine {
				if start > b.last {
					continue
				}
				b.end = start // the line begins too far back
				break
			}
			if first < len(lines) {
				lines, start = lines[first:], start+int64(first)
			}
		}
		b.end = start
		return lines, start, nil
	}
	return nil, 0, nil
}

// each calls see with the lines from the last to the first, until it returns false or all are read.
func (b *backwards) each(see func(line []byte, at int64) bool) error {
	for {
		lines, at, err := b.next()
		if err != nil || lines == nil {
			return err
		}
		for end := len(lines); end > 0; {
			begin := bytes.LastIndexByte(lines[:end-1], '\n') + 1
			if !see(lines[begin:end], at+int64(begin)) {
				return nil
			}
			end = begin
		}
	}
}
