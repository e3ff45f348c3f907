package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"golang.org/x/sys/unix"
)

// giveBack gives memory back that only the start has needed: what is free on the heap, and the pages
// of the program itself. A page of the program that is used again comes back from the file. Where
// there is no /proc only the heap is given back.
func giveBack() {
	debug.FreeOSMemory()
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for lines := bufio.NewScanner(bytes.NewReader(maps)); lines.Scan(); {
		var from, to uintptr
		var rights string
		n, _ := fmt.Sscanf(lines.Text(), "%x-%x %s", &from, &to, &rights)
		if n == 3 && !strings.Contains(rights, "w") && strings.HasSuffix(lines.Text(), " "+program) {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED) // the pages stay if that fails
		}
	}
}
