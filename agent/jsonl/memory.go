package jsonl

import (
	"math"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"ccbot/internal/membudget"
	"ccbot/internal/suspect"
	"ccbot/internal/wording"
)

// Budget returns the memory that all data made of long lines may take, which also limits a text
// that is sent without a request.
var Budget = sync.OnceValue(func() int64 {
	limit := debug.SetMemoryLimit(-1)
	if limit <= 0 {
		limit = math.MaxInt64
	}
	return membudget.Budget(os.DirFS("/"), limit)
})

const (
	// longLine is the length of a line that is shortened, and is held alone.
	longLine = 1 << 20
	// lineShare is the part of the budget that one line has, in percent: it is copied when it is
	// parsed and rendered.
	lineShare = 30
	// keptHead is the kept length of a longer string.
	keptHead = 64 << 10
	// returnedShare is the part of the budget from which on the memory of a line goes back to the
	// system at once.
	returnedShare = 8
)

// reads are the notes of the files that are read. The process that a read ends reads all files, so
// all readers share them.
var reads atomic.Pointer[suspect.Files]

// Note makes all reads of transcripts note what they read; nil ends that.
func Note(files *suspect.Files) { reads.Store(files) }

// Noted calls read, and notes on disk that a part of a file is being read. The caller holds no
// longLines: the read may wait for another one that needs it.
func Noted(path string, read func() error) error {
	end, err := reads.Load().Begin(path)
	if err != nil {
		return wording.Errorf("read %s: %w", wording.Path(path), err)
	}
	defer end()
	return read()
}

// longLines is held by the reader that has a long line in memory. Memory belongs to the process, so
// all readers share it: the long lines of all sessions together take no more than one of them. A
// reader holds it only while it reads and parses the line, never while it waits for a file or for a
// chat.
var longLines sync.Mutex

// held is the number of bytes of a long line that its holder has in memory; 0: it does not hold
// longLines.
type held int64

// take waits until no other reader has a long line in memory.
func (h *held) take(n int64) {
	if *h == 0 {
		longLines.Lock()
	}
	*h = held(n)
}

// release frees the memory of the line. No slice of the line may be used after it.
func (h *held) release() {
	n := *h
	if n == 0 {
		return
	}
	*h = 0
	if int64(n) >= Budget()/returnedShare {
		debug.FreeOSMemory() // before the next long line is read
	}
	longLines.Unlock()
}
