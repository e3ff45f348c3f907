package control

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// credentials are what the kernel knows of the peer. There is no handle on a process here: a pid that is reused between
// connect and accept is not noticed, one that is reused later is, by its start time.
func credentials(fd int) (pid, uid int, still func() error, done func(), err error) {
	pid, err = unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	if err != nil {
		return 0, 0, nil, nil, fmt.Errorf("LOCAL_PEERPID: %w", err)
	}
	c, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, 0, nil, nil, fmt.Errorf("LOCAL_PEERCRED: %w", err)
	}
	return pid, int(c.Uid), func() error { return nil }, func() {}, nil
}
