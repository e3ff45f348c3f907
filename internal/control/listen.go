package control

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"

	"ccbot/internal/ownfile"
)

// ErrNotASocket says that something else has the place of the socket. It is not touched.
var ErrNotASocket = errors.New("something is there that is no socket of yours: move it away")

// ErrLongPath says that the kernel takes no socket path that long (107 bytes, 103 on darwin).
var ErrLongPath = errors.New("the path is too long for a socket")

// listen makes the socket. It is bound under another name and gets its own when it is 0600: nobody sees it before, and an
// older socket is replaced in one step. remove takes it away, unless something else has its place by then.
func listen(path string) (l *net.UnixListener, remove func() error, err error) {
	fresh := path + "~"
	for _, name := range []string{path, fresh} {
		if err := replaceable(name); err != nil {
			return nil, nil, err
		}
	}
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a start that was killed
		return nil, nil, err
	}
	l, err = net.ListenUnix("unix", &net.UnixAddr{Name: fresh, Net: "unix"})
	if errors.Is(err, syscall.EINVAL) {
		return nil, nil, fmt.Errorf("%s: %w", path, ErrLongPath)
	}
	if err != nil {
		return nil, nil, err
	}
	l.SetUnlinkOnClose(false) // it would remove the other name
	info, err := publish(fresh, path)
	if err != nil {
		return nil, nil, errors.Join(err, l.Close(), os.Remove(fresh))
	}
	return l, func() error { return removeSame(path, info) }, nil
}

// publish makes the socket private, then gives it its name.
func publish(fresh, path string) (fs.FileInfo, error) {
	if err := os.Chmod(fresh, 0o600); err != nil {
		return nil, err
	}
	info, err := os.Lstat(fresh)
	if err != nil {
		return nil, err
	}
	return info, os.Rename(fresh, path)
}

// replaceable says whether a name is free, or of a socket of ours.
func replaceable(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket || ownfile.Owner(info) != os.Geteuid() {
		return fmt.Errorf("%s: %w", path, ErrNotASocket)
	}
	return nil
}

func removeSame(path string, was fs.FileInfo) error {
	now, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, was) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.Remove(path)
}
