package suspect

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"ccbot/internal/logkey"
	"ccbot/internal/wording"
)

// Name is the name of the file of notes in ccbot's folder.
const Name = "reads"

const (
	// mostDeaths is how many times ccbot may end during the same read.
	mostDeaths = 3
	// innocence is the pause before a read during which ccbot has ended once. It doubles with each death.
	innocence = time.Second
	// rowSize is how many bytes a note takes. A file with a longer path is read without a note.
	rowSize = 1024
	// mostRows bounds what Open reads.
	mostRows = 4096
)

// ErrUnread is returned for a file that is left unread.
var ErrUnread = errors.New("the file is left unread: ccbot ended each time it read it")

// Kind is a way to read a file. The deaths of each are counted separately, because one may pass the part of
// the file that ends the other.
type Kind string

// The kinds of reads.
const (
	Items     Kind = "items"     // forwards, item by item
	Lines     Kind = "lines"     // forwards, line by line
	Backwards Kind = "backwards" // from the end
)

// note is a row of the file of notes.
type note struct {
	Boot    string `json:"boot"` // of the kernel
	Path    string `json:"path"`
	Kind    Kind   `json:"kind"`
	Deaths  int    `json:"deaths,omitempty"`  // of the runs before this one
	Reading bool   `json:"reading,omitempty"` // a part of the file is being read
	Told    bool   `json:"told,omitempty"`    // the chat knows that the file is left unread

	readers int  // in this run
	paused  bool // in this run
}

// Files are the notes of the files that are read. The nil value notes nothing.
type Files struct {
	// Failpoint is called after each note with its name. It is nil except in programs that are built to die
	// there.
	Failpoint func(name string)

	boot  string
	wait  func(time.Duration) error // ends with an error if ccbot is stopped
	log   *slog.Logger
	alone chan struct{} // held by the one read of a suspect file

	mu     sync.Mutex
	file   *os.File // nil: no note can be written
	rows   []*note  // nil: the row is free
	failed bool     // a note could not be written, which is logged
}

// Open reads the notes of the earlier runs, from the file at path. boot is the kernel's id of this boot; wait
// is the pause before the read of a suspect file.
func Open(path, boot string, wait func(time.Duration) error, log *slog.Logger) *Files {
	f := &Files{boot: boot, wait: wait, log: log, alone: make(chan struct{}, 1)}
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
	left := leftBy(data, boot)
	for i, n := range left { // without gaps
		f.rows = append(f.rows, n)
		f.write(i)
	}
	if !f.failed {
		if err := f.file.Truncate(int64(len(left)) * rowSize); err != nil {
			f.fails(err)
		}
	}
	return f
}

// leftBy returns the notes that the earlier runs of a boot have left in the file of notes, with the deaths
// that they show. It is pure.
func leftBy(data []byte, boot string) (left []*note) {
	for line := range bytes.Lines(data) {
		var n note
		if json.Unmarshal(line, &n) != nil || n.Boot != boot || n.Path == "" {
			continue // free, cut short, or of another boot
		}
		if n.Reading {
			n.Deaths, n.Reading = n.Deaths+1, false
		}
		if n.Deaths > 0 {
			left = append(left, &n)
		}
	}
	return left
}

// decide returns how a file is read during whose read ccbot has ended: after a pause, or not at all. It is
// pure.
func decide(deaths int) (pause time.Duration, unread bool) {
	switch {
	case deaths >= mostDeaths:
		return 0, true
	case deaths > 0:
		return innocence << (deaths - 1), false
	}
	return 0, false
}

// Begin notes that a part of a file is read. The caller calls end after it: whole means that the file was
// read to its end, so its earlier deaths no longer count. The error is ErrUnread, or the end of ccbot.
func (f *Files) Begin(path string, kind Kind) (end func(whole bool), err error) {
	if f == nil {
		return func(bool) {}, nil
	}
	if f.IsUnread(path) {
		return nil, ErrUnread
	}
	free, err := f.await(path, kind)
	if err != nil {
		return nil, err
	}
	i := f.change(path, kind, func(n *note) { n.Reading, n.readers = true, n.readers+1 })
	if f.Failpoint != nil {
		f.Failpoint("read-noted")
	}
	var once sync.Once
	return func(whole bool) {
		once.Do(func() {
			f.end(i, whole)
			free()
		})
	}, nil
}

// await waits until a file may be read.
func (f *Files) await(path string, kind Kind) (free func(), err error) {
	f.mu.Lock()
	var n note
	if i := f.find(path, kind); i >= 0 {
		n = *f.rows[i]
	}
	f.mu.Unlock()
	pause, _ := decide(n.Deaths)
	if pause == 0 || n.readers > 0 { // it is being read already
		return func() {}, nil
	}
	if !n.paused {
		if err := f.wait(pause); err != nil {
			return nil, err
		}
		f.change(path, kind, func(n *note) { n.paused = true })
	}
	f.alone <- struct{}{} // a read waits for nothing but the disk
	return func() { <-f.alone }, nil
}

// find returns the row of a read, or -1. The caller holds mu.
func (f *Files) find(path string, kind Kind) int {
	return slices.IndexFunc(f.rows, func(n *note) bool { return n != nil && n.Path == path && n.Kind == kind })
}

// change changes the note of a read, and writes it if that changes the row.
func (f *Files) change(path string, kind Kind, change func(*note)) (row int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.find(path, kind)
	if i < 0 {
		if i = slices.Index(f.rows, nil); i < 0 {
			i, f.rows = len(f.rows), append(f.rows, nil)
		}
		f.rows[i] = &note{Boot: f.boot, Path: path, Kind: kind}
	}
	was := *f.rows[i]
	change(f.rows[i])
	if now := *f.rows[i]; was.Reading != now.Reading || was.Told != now.Told {
		f.write(i)
	}
	return i
}

func (f *Files) end(i int, whole bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.rows[i]
	if n == nil { // Again
		return
	}
	if n.readers--; whole {
		n.Deaths = 0
	}
	if n.readers > 0 {
		return
	}
	n.Reading = false
	if n.Deaths == 0 {
		f.rows[i] = nil
	}
	f.write(i)
}

// Passed forgets the deaths of a read, because a reader has ended without an error, if not at the end of the file.
func (f *Files) Passed(path string, kind Kind) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.find(path, kind)
	if i < 0 || f.rows[i].Deaths == 0 {
		return
	}
	if f.rows[i].Deaths = 0; f.rows[i].readers == 0 {
		f.rows[i] = nil
	}
	f.write(i)
}

// write puts a row on disk. The caller holds mu.
func (f *Files) write(i int) {
	if f.file == nil {
		return
	}
	row := bytes.Repeat([]byte(" "), rowSize)
	row[rowSize-1] = '\n'
	if n := f.rows[i]; n != nil {
		text, err := json.Marshal(n)
		if err != nil || len(text) >= rowSize {
			text = nil
		}
		copy(row, text)
	}
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

// Untold returns those of them that the chat does not know of.
func (f *Files) Untold() []string { return f.unread(func(n note) bool { return !n.Told }) }

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
		if _, unread := decide(n.Deaths); unread && which(*n) && !slices.Contains(paths, n.Path) {
			paths = append(paths, n.Path)
		}
	}
	return paths
}

// Told notes that the chat knows that a file is left unread.
func (f *Files) Told(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, n := range f.rows {
		if n != nil && n.Path == path {
			n.Told = true
			f.write(i)
		}
	}
}

// Again forgets the deaths of a file that is left unread: it is read again.
func (f *Files) Again(path string) {
	if !f.IsUnread(path) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, n := range f.rows {
		if n != nil && n.Path == path {
			f.rows[i] = nil
			f.write(i)
			f.log.Info("file_read_again", logkey.Path, wording.Path(path))
		}
	}
}

// Close is called by a clean stop: the reads that it cuts off are no deaths.
func (f *Files) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, n := range f.rows {
		if n == nil || !n.Reading {
			continue
		}
		if n.Reading = false; n.Deaths == 0 {
			f.rows[i] = nil
		}
		f.write(i)
	}
	if f.file == nil {
		return nil
	}
	file := f.file
	f.file = nil
	return file.Close()
}

// Read returns the files that are left unread according to the notes at path, for a program that does not
// run the bot. Notes that cannot be read are none, as for the bot.
func Read(path, boot string) []string {
	data, _ := os.ReadFile(path)
	f := &Files{rows: leftBy(data, boot)}
	return f.Unread()
}
