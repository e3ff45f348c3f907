package machine

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"sync"
	"time"

	"ccbot/internal/pause"
	"ccbot/port/folders"
	"ccbot/port/refusal"
)

// Bodies carries the content of files. It repeats the calls that a network has cut.
type Bodies struct{ folders.Bodies }

// File is an open file of the agents' machine. The caller closes it.
type File struct {
	folders.File
	ctx    context.Context
	bodies Bodies
	again  func(ctx context.Context) (folders.File, error) // opens it

	mu     sync.Mutex
	closed bool
	part   []byte // the part that was read last
	at     int64  // its offset
}

// Open opens a file of the agents' machine for reads until ctx ends. After a restart of the machine
// it is opened again, and read on if it is the same.
func (b Bodies) Open(ctx context.Context, open func(ctx context.Context) (folders.File, error)) (*File, error) {
	f, err := open(ctx)
	return &File{File: f, ctx: ctx, bodies: b, again: open}, err
}

// In makes later reads end with ctx.
func (f *File) In(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ctx = ctx
}

// Close ends the file's ticket. An unreachable machine does that by itself.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed, f.part = true, nil
	if err := f.bodies.Close(f.ctx, f.Ticket); err != nil && f.ctx.Err() == nil && !refusal.Is(err, refusal.Unreachable) {
		return err
	}
	return nil
}

// ReadAt implements io.ReaderAt.
func (f *File) ReadAt(p []byte, offset int64) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for n < len(p) {
		at := offset + int64(n)
		if at >= f.Size {
			return n, io.EOF
		}
		if at < f.at || at >= f.at+int64(len(f.part)) {
			if err := f.readLocked(at); err != nil {
				return n, err
			}
		}
		n += copy(p[n:], f.part[at-f.at:])
	}
	return n, nil
}

func (f *File) readLocked(at int64) error {
	if f.closed {
		return fs.ErrClosed
	}
	f.part = nil
	err := Repeat(f.ctx, func() (err error) {
		f.part, err = f.bodies.ReadPart(f.ctx, f.Ticket, at)
		if refusal.Is(err, refusal.Lapsed) {
			if err = f.openLocked(); err == nil {
				f.part, err = f.bodies.ReadPart(f.ctx, f.Ticket, at)
			}
		}
		return err
	})
	switch {
	case err == nil && len(f.part) == 0:
		err = io.ErrUnexpectedEOF
	case len(f.part) > folders.MostPart: // files that are sent at the same time would fill the memory
		f.part, err = nil, errPart
	}
	f.at = at
	return err
}

// errPart is returned for a part that is larger than one may be.
var errPart = errors.New("the machine has sent too large a part")

func (f *File) openLocked() error {
	now, err := f.again(f.ctx)
	if err != nil {
		return err
	}
	f.Ticket = now.Ticket
	if now.Size != f.Size || now.Version != f.Version {
		return &refusal.Error{Code: refusal.FileChanged}
	}
	return nil
}

// repeats and repeatAfter bound the calls that a network has cut and that are made again.
const (
	repeats     = 3
	repeatAfter = time.Second
)

// Repeat makes a call that may be repeated, a few times if the machine does not answer.
func Repeat(ctx context.Context, call func() error) (err error) {
	for range repeats {
		if err = call(); !refusal.Is(err, refusal.Unreachable) {
			return err
		}
		if pause.For(ctx, repeatAfter) != nil {
			return ctx.Err()
		}
	}
	return err
}

// Put writes a file of the agents' machine by parts.
func (b Bodies) Put(ctx context.Context, t folders.Ticket, body io.Reader) error {
	part := make([]byte, folders.MostPart)
	for at := int64(0); ; {
		n, failed := io.ReadFull(body, part)
		ends := errors.Is(failed, io.EOF) || errors.Is(failed, io.ErrUnexpectedEOF)
		if failed != nil && !ends {
			return failed
		}
		err := Repeat(ctx, func() error { return b.WritePart(ctx, t, at, part[:n]) })
		if err != nil || ends {
			return err
		}
		at += int64(n)
	}
}
