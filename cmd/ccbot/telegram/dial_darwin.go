package telegram

import (
	"time"

	"golang.org/x/sys/unix"
)

func setSilence(fd int, after time.Duration) error {
	return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_RXT_CONNDROPTIME, int(max(after, time.Second)/time.Second))
}
