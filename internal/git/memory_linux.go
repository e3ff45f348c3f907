package git

import "golang.org/x/sys/unix"

// boundMemory limits what a process of git may allocate. An error means that the process has ended.
func boundMemory(pid int) {
	_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: maxMemory, Max: maxMemory}, nil)
}
