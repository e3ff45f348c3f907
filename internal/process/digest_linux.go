package process

import (
	"fmt"
	"os"
)

// openExe opens the program that a process runs. The link of the kernel leads to it whatever is at
// its path now.
func openExe(pid int) (*os.File, error) { return os.Open(fmt.Sprintf("/proc/%d/exe", pid)) }
