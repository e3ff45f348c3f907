package control

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// credentials are what the kernel noted when the peer connected. still says, after the peer was looked up by its pid, that
// the pid was the peer's all the while; done lets go of it.
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

// peerHandle is a pidfd of the peer itself (Linux 6.5). On an older kernel it is one of whoever has the pid now, which
// leaves the moment between connect and accept.
func peerHandle(fd, pid int) (int, error) {
	held, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	switch {
	case err == nil:
		return held, nil
	case !errors.Is(err, unix.ENOPROTOOPT): // EINVAL and ESRCH: collected already
		return -1, fmt.Errorf("%w: SO_PEERPIDFD: %w", errPeerGone, err)
	}
	held, err = unix.PidfdOpen(pid, 0)
	if err != nil {
		return -1, fmt.Errorf("%w: pidfd_open: %w", errPeerGone, err)
	}
	return held, nil
}

// alive looks at a pidfd: one that can be read is of a process that has ended.
func alive(held int) error {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(held), Events: unix.POLLIN}}, 0)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return fmt.Errorf("poll the peer: %w", err)
		case n > 0:
			return errPeerGone
		}
		return nil
	}
}
