package sockpeer

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// credentials returns the process that the kernel recorded for a socket. still is called after the
// peer was read by its pid; it returns nil if the pid belonged to the peer during that time. done
// releases the handle.
func credentials(fd int) (pid, uid int, still func() error, done func(), err error) {
	c, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, 0, nil, nil, fmt.Errorf("SO_PEERCRED: %w", err)
	}
	held, err := peerHandle(fd, int(c.Pid))
	if err != nil {
		return 0, 0, nil, nil, err
	}
	still = func() error { return alive(held) }
	return int(c.Pid), int(c.Uid), still, func() { _ = unix.Close(held) }, nil
}

// peerHandle is a pidfd of the peer itself (Linux 6.5). On an older kernel it is a pidfd of the
// process that has the pid now, so a reuse between connect and accept is not noticed.
func peerHandle(fd, pid int) (int, error) {
	held, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	switch {
	case err == nil:
		return held, nil
	case !errors.Is(err, unix.ENOPROTOOPT):
		// EINVAL and ESRCH: the peer has ended and was collected.
		return -1, fmt.Errorf("%w: SO_PEERPIDFD: %w", ErrGone, err)
	}
	held, err = unix.PidfdOpen(pid, 0)
	if err != nil {
		return -1, fmt.Errorf("%w: pidfd_open: %w", ErrGone, err)
	}
	return held, nil
}

// alive polls a pidfd: when it is readable its process has ended.
func alive(held int) error {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(held), Events: unix.POLLIN}}, 0)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return fmt.Errorf("poll the peer: %w", err)
		case n > 0:
			return ErrGone
		}
		return nil
	}
}
