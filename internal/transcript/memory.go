package transcript

import (
	"runtime/debug"
	"sync"
)

const (
	// maxLine is the longest line that is read. Images and pasted files make lines of many megabytes.
	maxLine = 64 << 20
	// longLine is the length of a line that is held alone.
	longLine = 1 << 20
	// returned is the length of a line whose memory goes back to the system at once.
	returned = 8 << 20
)

// longLines is held by the reader that has a long line in memory. Memory belongs to the process, so all readers share it:
// the long lines of all sessions together take no more than one of them. A reader holds it only while it reads and parses
// the line, never while it waits for a file or for a chat.
var longLines sync.Mutex

// held is how many bytes of a long line its holder has in memory; 0: it does not hold longLines.
type held int64

// take waits until no other reader has a long line in memory.
func (h *held) take(n int64) {
	if *h == 0 {
		longLines.Lock()
	}
	*h = held(n)
}

// release gives the memory of the line back. No slice of the line may be used after it.
func (h *held) release() {
	n := *h
	if n == 0 {
		return
	}
	*h = 0
	if n >= returned {
		debug.FreeOSMemory() // before the next long line is read
	}
	longLines.Unlock()
}
