package running

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/google/uuid"

	"ccbot/bot/outbox"
	"ccbot/internal/disk"
	"ccbot/internal/gauge"
)

// fetching sends files, those of other machines only once they are here: the others of the chat
// would wait for the whole way.
type fetching struct {
	send  func(ctx context.Context, f outbox.File) (messageID int, err error)
	isFar func(session uuid.UUID) bool // on another machine
	dir   string                       // of the files that are here
	free  func(ctx context.Context) (bytes uint64, err error)
}

func (f fetching) sendFile(ctx context.Context, file outbox.File) (messageID int, err error) {
	if _, isHere := file.Body.(*bytes.Reader); isHere || !f.isFar(file.Session) {
		return f.send(ctx, file)
	}
	local, err := f.fetch(ctx, file.Body, file.Size)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, local.Close()) }()
	file.Body = local
	return f.send(ctx, file)
}

// fetch copies a file to this machine. Nobody else can open the copy, which goes with its last use,
// also after kill -9.
func (f fetching) fetch(ctx context.Context, body io.ReaderAt, size int64) (local *os.File, err error) {
	if err := disk.MkdirAll(f.dir, 0o700); err != nil {
		return nil, fmt.Errorf("fetch a file: %w", err)
	}
	if free, err := f.free(ctx); err == nil && free < 2*uint64(max(size, 0)) {
		return nil, fmt.Errorf("fetch a file of %d bytes to a disk with room for %d: %w", size, free, syscall.ENOSPC)
	}
	if local, err = disk.CreateTemp(f.dir, ""); err != nil { // of mode 0600
		return nil, fmt.Errorf("fetch a file: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, local.Close())
		}
	}()
	if err := disk.Remove(local.Name()); err != nil {
		return local, fmt.Errorf("fetch a file: %w", err)
	}
	from := &source{from: io.NewSectionReader(body, 0, size)}
	_, err = io.Copy(local, from)
	switch {
	case ctx.Err() != nil:
		return local, ctx.Err()
	case from.err != nil: // as the outbox reports a file that it cannot read
		return local, &outbox.Refused{Err: fmt.Errorf("fetch a file: %w", from.err)}
	case err != nil:
		return local, fmt.Errorf("fetch a file: %w", err)
	}
	return local, nil
}

// source keeps the error of a read, which is not one of this machine's disk.
type source struct {
	from io.Reader
	err  error
}

func (r *source) Read(p []byte) (n int, err error) {
	if n, err = r.from.Read(p); err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// SendFile implements chat.Direct.
func (s sender) SendFile(ctx context.Context, f outbox.File) (messageID int, err error) {
	return s.files.sendFile(ctx, f)
}

// fetching returns how this system sends files.
func (s *system) fetching(dir string) fetching {
	return fetching{send: s.outbox.SendFile, dir: dir,
		isFar: func(id uuid.UUID) bool {
			r, known := s.machines.Machine().Records.Get(id)
			return known && r.Machine != ""
		},
		free: func(ctx context.Context) (uint64, error) {
			room, err := gauge.Disk(ctx, dir)
			return room.Free, err
		}}
}
