package hookwire

import (
	"os"
	"syscall"
	"time"
)

// dialBound is how long connecting to a bot may take. For a bot that works, the kernel accepts at
// once; only for a bot that hangs does the queue of connections fill up.
const dialBound = 2 * time.Second

// dial connects to a unix socket. It calls the kernel directly: package net would double the size
// of the hook, and every prompt has to wait for the start of the hook. The returned file supports
// deadlines.
func dial(path string) (*os.File, error) {
	syscall.ForkLock.RLock() // no child may be started between the two steps
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	if err := connect(fd, path); err != nil {
		_ = syscall.Close(fd) // nothing was written to it
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// connect limits the wait by the time limit for sending, which Linux applies to connect as well
// (unix(7)); darwin does not wait. The socket becomes non-blocking, as the poller needs it, only
// after connect.
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
