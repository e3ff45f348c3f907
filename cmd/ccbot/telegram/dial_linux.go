package telegram

import (
	"time"

	"golang.org/x/sys/unix"
)

func setSilence(fd int, after time.Duration) error {
	return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(after/time.Millisecond))
}
