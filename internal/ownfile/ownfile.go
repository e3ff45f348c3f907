package ownfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Sentinels of Open and Read. A missing file is fs.ErrNotExist.
var (
	// a link, pipe, folder, or another user's
	ErrForeign = errors.New("not a regular file of this user")
	ErrTooBig  = errors.New("larger than allowed")
)

// Allow is a set of exceptions that a caller accepts.
type Allow uint8

const (
	Links  Allow = 1 << iota // links are followed
	Others                   // other users' files
)

// Open opens a file for reading and returns its info. The error for a link that is not allowed also
// matches syscall.ELOOP.
func Open(path string, allow Allow) (*os.File, fs.FileInfo, error) {
	flags := os.O_RDONLY | syscall.O_NONBLOCK
	if allow&Links == 0 {
		flags |= syscall.O_NOFOLLOW
	}
	file, err := os.OpenFile(path, flags, 0)
	switch {
	case errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENXIO): // a link; a socket
		return nil, nil, fmt.Errorf("%w: %w", ErrForeign, err)
	case err != nil:
		return nil, nil, err
	}
	info, err := file.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = ErrForeign
	case allow&Others == 0 && Owner(info) != os.Geteuid():
		err = fmt.Errorf("%w: it belongs to uid %d", ErrForeign, Owner(info))
	}
	if err != nil {
		return nil, nil, errors.Join(&fs.PathError{Op: "open", Path: path, Err: err}, file.Close())
	}
	return file, info, nil
}

// Read returns the bytes of a file, at most limit.
func Read(path string, limit int64, allow Allow) ([]byte, error) {
	file, info, err := Open(path, allow)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	// As large as the file, and what a Buffer keeps free: all of it is one read, and the end the
	// second.
	data := bytes.NewBuffer(make([]byte, 0, min(info.Size(), limit)+bytes.MinRead))
	if _, err := data.ReadFrom(io.LimitReader(file, limit+1)); err != nil {
		return nil, err
	}
	if int64(data.Len()) > limit {
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrTooBig}
	}
	return data.Bytes(), nil
}

// Same reports whether two paths lead to one file.
func Same(a, b string) bool {
	one, err := os.Stat(a)
	other, errOther := os.Stat(b)
	return errors.Join(err, errOther) == nil && os.SameFile(one, other)
}

// Owner returns the uid of a file's owner, or -1 if the system does not report it.
func Owner(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}
