package host

import (
	"errors"
	"io"
	"io/fs"

	"github.com/google/uuid"

	"ccbot/bot/port/files"
	"ccbot/host/received"
)

// Put implements [files.Files].
func (m *Machine) Put(session uuid.UUID, id string, fill func(io.Writer) (string, error)) (files.Received, error) {
	r, ok := m.Records.Get(session)
	if !ok {
		return files.Received{}, putError(fs.ErrNotExist)
	}
	name, err := m.Received.Put(r.Dir, id, fill)
	if err != nil {
		return files.Received{}, putError(err)
	}
	return files.Received{Dir: r.Dir, Name: name}, nil
}

func putError(err error) error {
	if errors.As(err, new(*received.Unfilled)) {
		return err
	}
	return &files.Refusal{Text: reason(err), NotOurs: errors.Is(err, received.ErrNotOurs), Err: err}
}
