package process

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// openExe opens the program that a process runs. The link of the kernel leads to it whatever is at
// its path now.
func openExe(pid int) (*os.File, error) { return os.Open(fmt.Sprintf("/proc/%d/exe", pid)) }

// changedAt returns when the kernel last saw a change of a file.
func changedAt(info fs.FileInfo) time.Time {
	return time.Unix(info.Sys().(*syscall.Stat_t).Ctim.Unix())
}
