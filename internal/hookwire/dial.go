package hookwire

import (
	"os"
	"syscall"
	"time"
)

// dialBound is how long a bot may take to accept. The kernel accepts for a living one; only the queue of a stuck one
// fills up.
const dialBound = 2 * time.Second

// dial connects to a unix socket. It speaks to the kernel itself: package net would double the size of the hook, and
// its start is what every prompt pays. The file has deadlines.
func dial(path string) (*os.File, error) {
	fd, err := openSocket()
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	if err := connect(fd, path); err != nil {
		_ = syscall.Close(fd) // nothing was written to it
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

func openSocket() (int, error) {
	syscall.ForkLock.RLock() // no child may be started between the two steps
	defer syscall.ForkLock.RUnlock()
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return 0, err
	}
	syscall.CloseOnExec(fd)
	return fd, nil
}

// connect bounds the wait with the time limit for sending, which Linux applies to connect as well (unix(7)); darwin does
// not wait. Only afterwards the socket becomes one for the poller.
func connect(fd int, path string) error {
	limit := syscall.NsecToTimeval(dialBound.Nanoseconds())
	if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_SNDTIMEO, &limit); err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	_, err := again(func() (int, error) { return 0, syscall.Connect(fd, &syscall.SockaddrUnix{Name: path}) })
	if err != nil {
		return os.NewSyscallError("connect", err)
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		return os.NewSyscallError("setnonblock", err)
	}
	return nil
}
