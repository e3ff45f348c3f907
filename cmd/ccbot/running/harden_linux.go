package running

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Harden keeps secrets out of core files and away from other processes' debuggers. It runs before
// any secret is read.
func Harden() error {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("switch core files off: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("switch dumps off: %w", err)
	}
	return nil
}
