package suspect

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"ccbot/internal/logkey"
	"ccbot/internal/wording"
)

// Name is the name of the file of notes in ccbot's folder.
const Name = "reads"

const (
	// mostDeaths is the number of runs in a row that end while they read the same file before it is
	// left unread.
	mostDeaths = 3
	// innocence is how long after its start a run leaves a file unread during whose read one run
	// has ended. It doubles with each such run: what else ends ccbot soon after a start does it
	// first.
	innocence = time.Second
	// timeout is how long a read waits for other files at most.
	timeout = 10 * time.Second
	// rowSize is the size of a note in bytes. A file with a longer path is read without a note.
	rowSize = 1024
	// mostRows bounds what Open reads.
	mostRows = 4096
)

// blank is a free row.
var blank = strings.Repeat(" ", rowSize-1) + "\n"

// ErrUnread is returned for a file that is left unread.
var ErrUnread = errors.New("the file is left unread: ccbot ended each time it read it")

// use is a run's use of a file.
type use string

const (
	unused  use = "" // not yet
	reading use = "reading"
	passed  use = "passed" // it was read, and is not now
)

// note is a row of the file of notes.
type note struct {
	Boot string `json:"boot"` // of the kernel
	Path string `json:"path"`
	// runs in a row, before this one, that ended while they read the file
	Deaths   int  `json:"deaths,omitempty"`
	Use      use  `json:"use,omitempty"`  // in this run
	Reported bool `json:"told,omitempty"` // the chat knows that the file is left unread

	reads int // under way
}

// Files are the notes of the files that are read. The nil value notes nothing.
type Files struct {
	// Failpoint is called after each note of a read with its name. It is nil except in programs
	// that are built to die there.
	Failpoint func(name string)

	boot   string
	opened time.Time
	wait   func(time.Duration) error // ends with an error if ccbot is stopped
	log    *slog.Logger

	mu     sync.Mutex
	turn   *sync.Cond // a file is used no longer
	file   *os.File   // nil: no note can be written
	rows   []*note    // nil: the row is free
	text   []byte     // of the row that was written last
	failed bool       // a note could not be written, which is logged
}

// Open reads the notes of the earlier runs, from the file at path. boot is the kernel's id of this
// boot; wait is the pause before the read of a suspect file.
func Open(path, boot string, wait func(time.Duration) error, log *slog.Logger) *Files {
	f := &Files{boot: boot, opened: time.Now(), wait: wait, log: log}
	f.turn = sync.NewCond(&f.mu)
	var err error
	if f.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600); err != nil {
		f.file = nil
		f.fails(err)
		return f
	}
	data, err := io.ReadAll(io.LimitReader(f.file, mostRows*rowSize))
	if err != nil {
		f.fails(err)
	}
	f.rows = leftBy(data, boot)
	for i := range f.rows { // without gaps
		f.write(i)
	}
	if !f.failed {
		if err := f.file.Truncate(int64(len(f.rows)) * rowSize); err != nil {
			f.fails(err)
		}
	}
	return f
}

// leftBy returns the notes that the earlier runs of a boot have left in the file of notes, with the
// deaths that they show. It is pure.
func leftBy(data []byte, boot string) (left []*note) {
	for line := range bytes.Lines(data) {
		var n note
		if json.Unmarshal(line, &n) != nil || n.Boot != boot || n.Path == "" {
			continue // free, cut short, or of another boot
		}
		switch n.Use {
		case reading:
			n.Deaths++
		case passed: // the run ended for another reason
			continue
		case unused:
		}
		if n.Use = unused; n.Deaths > 0 {
			left = append(left, &n)
		}
	}
	return left
}

// decide returns how a file is read during whose read runs have ended: some time after the start,
// or not at all. It is pure.
func decide(deaths int) (after time.Duration, unread bool) {
	switch {
	case deaths >= mostDeaths:
		return 0, true
	case deaths > 0:
		return innocence << (deaths - 1), false
	}
	return 0, false
}

// Begin notes that a part of a file is read. The caller calls end after it, and begins no other
// read before. The error is ErrUnread, or the end of ccbot.
func (f *Files) Begin(path string) (end func(), err error) {
	if f == nil {
		return func() {}, nil
	}
	after, unread := decide(f.deaths(path))
	if unread {
		return nil, ErrUnread
	}
	if pause := after - time.Since(f.opened); pause > 0 {
		if err := f.wait(pause); err != nil {
			return nil, err
		}
	}
	f.mu.Lock()
	f.await(path)
	n := f.row(path)
	n.reads++
	f.store(n)
	f.mu.Unlock()
	if f.Failpoint != nil {
		f.Failpoint("read-noted")
	}
	return sync.OnceFunc(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		n.reads--
		f.store(n)
	}), nil
}

// await waits until a file may be read, timeout at most. The caller holds mu.
func (f *Files) await(path string) {
	if f.mayRead(path) {
		return
	}
	began := time.Now()
	late := time.AfterFunc(timeout, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.turn.Broadcast()
	})
	defer late.Stop()
	for !f.mayRead(path) && time.Since(began) < timeout {
		f.turn.Wait()
	}
}

// mayRead reports whether a file may be read now: a suspect file if no other file is read, any
// other file if no suspect file is read. The caller holds mu.
func (f *Files) mayRead(path string) bool {
	i := f.find(path)
	suspect := i >= 0 && f.rows[i].Deaths > 0
	return !slices.ContainsFunc(f.rows, func(n *note) bool {
		if n == nil || n.Path == path {
			return false
		}
		return n.reads > 0 && (suspect || n.Deaths > 0)
	})
}

// MarkReported notes that the chat knows that a file is left unread.
func (f *Files) MarkReported(path string) { f.change(path, func(n *note) { n.Reported = true }) }

// Again forgets the deaths of a file that is left unread: it is read again.
func (f *Files) Again(path string) {
	if !f.IsUnread(path) {
		return
	}
	f.change(path, func(n *note) { n.Deaths, n.Use = 0, passed })
	f.log.Info("file_read_again", logkey.Path, wording.Path(path))
}

// change changes the note of a file that has one.
func (f *Files) change(path string, change func(*note)) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := f.find(path); i >= 0 {
		change(f.rows[i])
		f.store(f.rows[i])
	}
}

// find returns the row of a file, or -1. The caller holds mu.
func (f *Files) find(path string) int {
	return slices.IndexFunc(f.rows, func(n *note) bool { return n != nil && n.Path == path })
}

// row returns the note of a file, which it makes if there is none. The caller holds mu.
func (f *Files) row(path string) *note {
	i := f.find(path)
	if i < 0 {
		if i = slices.Index(f.rows, nil); i < 0 {
			i, f.rows = len(f.rows), append(f.rows, nil)
		}
		f.rows[i] = &note{Boot: f.boot, Path: path}
	}
	return f.rows[i]
}

// store writes a note after its change, and removes it if it is of no more use. The caller holds
// mu.
func (f *Files) store(n *note) {
	switch {
	case n.reads > 0:
		n.Use = reading
	case n.Use != unused:
		n.Use = passed
	}
	i := slices.Index(f.rows, n)
	if i < 0 { // Close
		return
	}
	if n.Use == passed && n.Deaths == 0 {
		f.rows[i] = nil
	}
	f.write(i)
	f.turn.Broadcast()
}

func (f *Files) deaths(path string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := f.find(path); i >= 0 {
		return f.rows[i].Deaths
	}
	return 0
}

// write puts a row on disk. The caller holds mu.
func (f *Files) write(i int) {
	if f.file == nil {
		return
	}
	row := append(f.text[:0], blank...)
	if n := f.rows[i]; n != nil {
		if text, err := json.Marshal(n); err == nil && len(text) < rowSize {
			copy(row, text)
		}
	}
	f.text = row
	if _, err := f.file.WriteAt(row, int64(i)*rowSize); err != nil {
		f.fails(err)
	}
}

// fails logs that notes cannot be written.
func (f *Files) fails(err error) {
	if !f.failed {
		f.failed = true
		f.log.Warn("reads_not_noted", logkey.Error, err)
	}
}

// IsUnread reports whether a file is left unread.
func (f *Files) IsUnread(path string) bool { return slices.Contains(f.Unread(), path) }

// Unread returns the files that are left unread.
func (f *Files) Unread() []string { return f.unread(func(note) bool { return true }) }

// Unreported returns the unread files that are not reported to the chat.
func (f *Files) Unreported() []string { return f.unread(func(n note) bool { return !n.Reported }) }

func (f *Files) unread(which func(note) bool) (paths []string) {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.rows {
		if n == nil {
			continue
		}
		if _, unread := decide(n.Deaths); unread && which(*n) {
			paths = append(paths, n.Path)
		}
	}
	return paths
}

// Close is called by a clean stop. It forgets the deaths of all files that are still read.
func (f *Files) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, n := range f.rows {
		if n == nil {
			continue
		}
		if _, unread := decide(n.Deaths); !unread {
			f.rows[i] = nil
			f.write(i)
		}
	}
	f.turn.Broadcast()
	if f.file == nil {
		return nil
	}
	file := f.file
	f.file = nil
	return file.Close()
}

// Read returns the files that are left unread according to the notes at path, for a program that
// does not run the bot. Unreadable notes are ignored, as in the bot.
func Read(path, boot string) []string {
	data, _ := os.ReadFile(path)
	f := &Files{rows: leftBy(data, boot)}
	return f.Unread()
}
