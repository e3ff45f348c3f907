package telegram

import (
	"time"

	"golang.org/x/sys/unix"
)

func readSilence(fd int) (time.Duration, error) {
	n, err := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT)
	return time.Duration(n) * time.Millisecond, err
}
