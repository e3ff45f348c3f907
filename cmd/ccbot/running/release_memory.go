package running

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"golang.org/x/sys/unix"
)

// giveBack returns memory that only the start needed: free memory of the heap, and the pages of the
// program itself. A page of the program that is used again comes back from the file; a page that
// the linker or the program has written to would be lost, so a mapping with such a page stays.
// Without /proc only the heap is returned.
func giveBack() {
	debug.FreeOSMemory()
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	pages, readOnly := "", false
	for lines := bufio.NewScanner(bytes.NewReader(maps)); lines.Scan(); {
		words := strings.Fields(lines.Text())
		switch {
		case !strings.HasSuffix(words[0], ":"): // a mapping begins
			pages, readOnly = words[0], !strings.Contains(words[1], "w") && words[len(words)-1] == program
		case readOnly && words[0] == "Anonymous:" && words[1] == "0":
			var from, to uintptr
			if _, err := fmt.Sscanf(pages, "%x-%x", &from, &to); err == nil {
				// The pages stay if that fails.
				_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED)
			}
		}
	}
}
