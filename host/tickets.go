package host

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/guard"
	"ccbot/port/folders"
	"ccbot/port/refusal"
)

const (
	ticketTTL   = 10 * time.Minute // after the last call
	mostTickets = 64               // the one used longest ago makes room
)

// Tickets holds the files that are open for the chat. It implements [folders.Bodies].
type Tickets struct {
	mu   sync.Mutex
	open map[folders.Ticket]*ticket
	last uint64 // the number of calls
}

// ticket is an open file: it is read, or it is written.
type ticket struct {
	mu     sync.Mutex // held by a call
	used   uint64     // the number of the last call
	expiry *time.Timer

	source  source // nil: it is written
	size    int64
	same    func() error // checks that the source has not changed; nil: it cannot change
	writing *writing
}

// source is the content of a file that is read.
type source interface {
	io.ReaderAt
	io.Closer
}

// writing is a file of the chat that is being written.
type writing struct {
	key  string // of the file: there is one writing of it
	pipe *io.PipeWriter
	next int64         // bytes written
	done chan struct{} // closed when name and err are set
	name string
	err  error
}

// add makes a ticket.
func (t *Tickets) add(one *ticket) folders.Ticket {
	name := folders.Ticket(uuid.NewString())
	if oldest := t.oldest(); oldest != "" {
		t.end(oldest)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		t.open = make(map[folders.Ticket]*ticket)
	}
	t.last++
	one.used = t.last
	one.expiry = time.AfterFunc(ticketTTL, func() { t.end(name) })
	t.open[name] = one
	return name
}

// oldest returns the ticket that makes room for another one; empty: there is room.
func (t *Tickets) oldest() (oldest folders.Ticket) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.open) < mostTickets {
		return ""
	}
	for name, one := range t.open {
		if oldest == "" || one.used < t.open[oldest].used {
			oldest = name
		}
	}
	return oldest
}

// read makes a ticket for a file that is read.
func (t *Tickets) read(name, version string, size int64, body source, same func() error) folders.File {
	return folders.File{Name: name, Size: size, Version: version, Ticket: t.add(&ticket{source: body, size: size, same: same})}
}

// write makes a ticket for a file that put stores. put reads to the end, and has removed the file
// if it returns an error.
func (t *Tickets) write(key string, put func(body io.Reader) (name string, err error)) folders.Ticket {
	t.drop(key)
	r, pipe := io.Pipe()
	w := &writing{key: key, pipe: pipe, done: make(chan struct{})}
	go func() { // it ends with the ticket
		w.err = guard.Call(func() (err error) { w.name, err = put(r); return err })
		close(w.done)
		_ = r.Close() // put needs no more
	}()
	return t.add(&ticket{writing: w})
}

// drop ends the writing of a file.
func (t *Tickets) drop(key string) {
	var names []folders.Ticket
	t.mu.Lock()
	for name, one := range t.open {
		if one.writing != nil && one.writing.key == key {
			names = append(names, name)
		}
	}
	t.mu.Unlock()
	for _, name := range names {
		t.end(name)
	}
}

// end closes the file of a ticket. It waits for a call of the ticket.
func (t *Tickets) end(name folders.Ticket) {
	t.mu.Lock()
	one := t.open[name]
	delete(t.open, name)
	t.mu.Unlock()
	if one == nil {
		return
	}
	one.expiry.Stop()
	if w := one.writing; w != nil { // without an effect after Finish
		_ = w.pipe.CloseWithError(refuse(refusal.Lapsed))
		<-w.done
		return
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	_ = one.source.Close() // it was only read
}

// use returns an open file, locked.
func (t *Tickets) use(name folders.Ticket) (*ticket, error) {
	t.mu.Lock()
	one := t.open[name]
	if one != nil {
		t.last++
		one.used = t.last
		one.expiry.Reset(ticketTTL)
	}
	t.mu.Unlock()
	if one == nil {
		return nil, refuse(refusal.Lapsed)
	}
	one.mu.Lock()
	return one, nil
}

// ReadPart implements [folders.Bodies].
func (t *Tickets) ReadPart(_ context.Context, name folders.Ticket, offset int64) ([]byte, error) {
	one, err := t.use(name)
	if err != nil {
		return nil, err
	}
	defer one.mu.Unlock()
	if one.source == nil || offset < 0 || offset > one.size {
		return nil, errors.New("no such part")
	}
	part := make([]byte, min(folders.MostPart, one.size-offset))
	n, err := one.source.ReadAt(part, offset)
	if one.same != nil {
		if err := one.same(); err != nil {
			return nil, err
		}
	}
	if n < len(part) {
		return nil, cmp.Or(err, io.ErrUnexpectedEOF)
	}
	return part, nil
}

// WritePart implements [folders.Bodies].
func (t *Tickets) WritePart(_ context.Context, name folders.Ticket, offset int64, data []byte) error {
	one, err := t.use(name)
	if err != nil {
		return err
	}
	defer one.mu.Unlock()
	w := one.writing
	if w == nil || offset < 0 || offset > w.next || len(data) > folders.MostPart {
		return errors.New("no such part")
	}
	if done := w.next - offset; done < int64(len(data)) {
		_, err := w.pipe.Write(data[done:])
		w.next = offset + int64(len(data))
		if err != nil { // put has returned
			<-w.done
			return w.err
		}
	}
	return nil
}

// finish waits until a file is stored.
func (t *Tickets) finish(name folders.Ticket) (string, error) {
	one, err := t.use(name)
	if err != nil {
		return "", err
	}
	defer one.mu.Unlock()
	w := one.writing
	if w == nil {
		return "", errors.New("it is not written")
	}
	_ = w.pipe.Close()
	<-w.done
	return w.name, w.err
}

// Close implements [folders.Bodies].
func (t *Tickets) Close(_ context.Context, name folders.Ticket) error {
	t.end(name)
	return nil
}
