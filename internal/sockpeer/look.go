package sockpeer

import (
	"errors"
	"fmt"
	"net"
)

// Look calls look with the pid and the user of the process at the other end of a socket. It returns
// an error if look did, or if the pid may have been another process's by then.
func Look(conn net.Conn, look func(pid, uid int) error) error {
	unix, is := conn.(*net.UnixConn)
	if !is {
		return errors.New("identify the other end of a socket: it is no Unix socket")
	}
	raw, err := unix.SyscallConn()
	if err != nil {
		return fmt.Errorf("identify the other end of a socket: %w", err)
	}
	failed := raw.Control(func(fd uintptr) { err = lookAt(int(fd), look) })
	return errors.Join(failed, err)
}

func lookAt(fd int, look func(pid, uid int) error) error {
	pid, uid, still, done, err := credentials(fd)
	if err != nil {
		return err
	}
	defer done()
	if err := look(pid, uid); err != nil {
		return err
	}
	return still()
}
