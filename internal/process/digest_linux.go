package process

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// openExe opens the program that a process runs. The kernel's link leads to it even if another file
// has its path.
func openExe(pid int) (*os.File, error) { return os.Open(fmt.Sprintf("/proc/%d/exe", pid)) }

// changedAt returns when the kernel last saw a change of a file.
func changedAt(info fs.FileInfo) time.Time {
	return time.Unix(info.Sys().(*syscall.Stat_t).Ctim.Unix())
}
