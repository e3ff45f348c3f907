//go:build !linux

package running

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Harden keeps secrets out of core files. It runs before any secret is read.
func Harden() error {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("switch core files off: %w", err)
	}
	return nil
}
