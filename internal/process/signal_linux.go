package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pidfd is a process held by its file descriptor (pidfd_open(2)), which never changes to another
// process.
type pidfd struct {
	file *os.File
	conn syscall.RawConn
}

// hold needs Linux 5.10. With PIDFD_NONBLOCK the runtime's poller handles the descriptor, so a wait
// blocks no thread.
func (k procfs) hold(pid int) (handle, error) {
	h, err := openPidfd(pid)
	if err != nil {
		return nil, err // not h: a nil *pidfd is not a nil handle
	}
	return h, nil
}

func openPidfd(pid int) (*pidfd, error) {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if errors.Is(err, unix.ESRCH) || isThread(pid, err) {
		return nil, fmt.Errorf("pidfd_open: %w", ErrGone)
	}
	if err != nil {
		return nil, fmt.Errorf("pidfd_open: %w", err)
	}
	file := os.NewFile(uintptr(fd), "pidfd")
	conn, err := file.SyscallConn()
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("pidfd: %w", err)
	}
	return &pidfd{file: file, conn: conn}, nil
}

// isThread reports whether pid is the number of a thread: an ended process's number may be reused
// for a thread, for which pidfd_open answers ENOENT, or EINVAL in older kernels. In a kernel
// without PIDFD_NONBLOCK, EINVAL does not depend on the pid.
func isThread(pid int, err error) bool {
	if pid <= 0 || !errors.Is(err, unix.EINVAL) {
		return errors.Is(err, unix.ENOENT)
	}
	fd, selfErr := unix.PidfdOpen(os.Getpid(), unix.PIDFD_NONBLOCK)
	if selfErr != nil {
		return false
	}
	_ = unix.Close(fd)
	return true
}

// holdable reports whether a process with that pid runs; the kernel answers this even where /proc
// hides the process.
func holdable(pid int) (bool, error) {
	h, err := openPidfd(pid)
	if errors.Is(err, ErrGone) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer h.close()
	exited, err := h.exited()
	return !exited, err
}

func (h *pidfd) exited() (exited bool, err error) {
	ctlErr := h.conn.Control(func(fd uintptr) { exited, err = pollExited(fd) })
	return exited, errors.Join(ctlErr, err)
}

func (h *pidfd) wait(ctx context.Context) error {
	if err := h.file.SetReadDeadline(time.Time{}); err != nil {
		return fmt.Errorf("pidfd: %w", err)
	}
	// A deadline in the past cancels a wait in the poller.
	stop := context.AfterFunc(ctx, func() { _ = h.file.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	var pollErr error
	err := h.conn.Read(func(fd uintptr) (done bool) {
		done, pollErr = pollExited(fd)
		return done || pollErr != nil
	})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return ctx.Err()
	}
	return errors.Join(err, pollErr)
}

// pollExited reports whether the whole thread group has ended, which makes a pidfd readable; the
// zombie may still be there.
func pollExited(fd uintptr) (bool, error) {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := retry(func() (int, error) { return unix.Poll(fds, 0) })
	if err != nil {
		return false, fmt.Errorf("poll pidfd: %w", err)
	}
	return n > 0 && fds[0].Revents&unix.POLLIN != 0, nil
}

func (h *pidfd) signal(sig syscall.Signal) (err error) {
	ctlErr := h.conn.Control(func(fd uintptr) { err = unix.PidfdSendSignal(int(fd), sig, nil, 0) })
	return errors.Join(ctlErr, err)
}

func (h *pidfd) close() { _ = h.file.Close() }
