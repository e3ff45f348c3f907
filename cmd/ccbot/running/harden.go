package running

import (
	"fmt"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// Harden keeps secrets out of core files and, on Linux, away from other processes' debuggers. It
// runs before any secret is read. A crash ends by SIGABRT from then on: Go's own end is exit code
// 2, after which the service would stay down.
func Harden() error {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("switch core files off: %w", err)
	}
	debug.SetTraceback("crash")
	return forbidDumps()
}
