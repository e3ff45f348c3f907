package doctor

import "golang.org/x/sys/unix"

// canWatch reports whether this user can have one more inotify instance.
func canWatch() bool {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		return false
	}
	_ = unix.Close(fd)
	return true
}
