package control

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"

	"ccbot/internal/disk"
	"ccbot/internal/ownfile"
)

// ErrNotASocket means that something that is not a socket of this user has the socket's name. It is
// not touched.
var ErrNotASocket = errors.New("another file is at the path of the socket; move it away")

// ErrLongPath means that the path is longer than the kernel allows for a socket (107 bytes, 103 on
// darwin).
var ErrLongPath = errors.New("the path is too long for a socket")

// listener is a socket that has its name.
type listener struct {
	*net.UnixListener
	path string
	info fs.FileInfo // of the socket
}

// listen makes the socket. The socket is bound under another name and is renamed when its mode is
// 0600: no client finds it before that, and an older socket is replaced in one step.
func listen(path string) (*listener, error) {
	if err := Replaceable(path); err != nil {
		return nil, err
	}
	fresh := freshName(path)
	// Left by a start that was killed.
	if err := disk.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: fresh, Net: "unix"})
	if errors.Is(err, syscall.EINVAL) {
		return nil, fmt.Errorf("%s: %w", path, ErrLongPath)
	}
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // it would remove the temporary name, not the final one
	var info fs.FileInfo
	if err = os.Chmod(fresh, 0o600); err == nil {
		info, err = os.Lstat(fresh)
	}
	if err == nil {
		err = disk.Rename(fresh, path)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close(), disk.Remove(fresh))
	}
	return &listener{l, path, info}, nil
}

// isLost reports whether the name is certainly free or another file's.
func (l *listener) isLost() bool {
	now, err := disk.Lstat(l.path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, l.info)
}

// remove removes the socket, unless another file has taken its name.
func (l *listener) remove() error {
	if l.isLost() {
		return nil
	}
	return disk.Remove(l.path)
}

// freshName is the name of a socket while it is made.
func freshName(path string) string { return path + "~" }

// Replaceable returns nil if both names that a socket has are free, or name a socket of this user.
func Replaceable(path string) error {
	for _, name := range []string{path, freshName(path)} {
		switch info, err := os.Lstat(name); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case info.Mode().Type() != fs.ModeSocket || ownfile.Owner(info) != os.Geteuid():
			return fmt.Errorf("%s: %w", name, ErrNotASocket)
		}
	}
	return nil
}
