package host

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	"github.com/google/uuid"

	"ccbot/bot/port/refusal"
	"ccbot/host/received"
)

// Has implements [files.Received].
func (m *Machine) Has(_ context.Context, id uuid.UUID, file string) (name string, err error) {
	r, ok := m.Records.Get(id)
	if !ok {
		return "", refuse(refusal.NotFound)
	}
	name, err = m.Received.Has(r.Dir, file)
	return name, notPut(r.Dir, err)
}

// Put implements [files.Received].
func (m *Machine) Put(_ context.Context, id uuid.UUID, file, wished string, body io.Reader) (name string, err error) {
	r, ok := m.Records.Get(id)
	if !ok {
		return "", refuse(refusal.NotFound)
	}
	from := &source{Reader: body}
	name, err = m.Received.Put(r.Dir, file, wished, from)
	if from.err != nil {
		return "", err
	}
	return name, notPut(r.Dir, err)
}

// notPut is the refusal that an error about a file from the chat means.
func notPut(dir string, err error) error {
	e := &refusal.Error{Code: refusal.InboxUnwritable, Dir: filepath.Join(dir, received.Folder), Err: err}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, received.ErrNotOurs):
		e.Code = refusal.InboxNotOurs
	default:
		e.Reason = reason(err)
	}
	return e
}

// source is a body that remembers its own error, so that every other error is known to be the
// disk's.
type source struct {
	io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}
