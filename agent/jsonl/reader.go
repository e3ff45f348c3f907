package jsonl

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"ccbot/agent/history"
	"ccbot/internal/logkey"
	"ccbot/internal/ownfile"
	"ccbot/internal/watch"
	"ccbot/internal/wording"
	"ccbot/port/talk"
)

const (
	// keptBuffer is the largest line buffer that is kept for the next line. It is small, because
	// every open session has one.
	keptBuffer = 64 << 10
	// leastAhead and mostAhead bound how much is read at once. Usually there is nothing after a
	// cursor, and a start reads the transcripts of thousands of sessions.
	leastAhead, mostAhead = 4 << 10, 64 << 10
)

// Reader reads items from a cursor to the present end of the file, by whole lines, and continues
// from there when the file has grown. Only one goroutine at a time may use it.
type Reader struct {
	form  *Form
	start talk.Cursor // the place at which it was opened

	file   *os.File
	in     *bufio.Reader
	closed bool

	next   int64      // offset of the line that is read next
	length int64      // bytes of that line so far
	line   []byte     // those bytes, unless it is too long
	skip   bool       // pass the rest of this line
	long   held       // the memory of the line, if it is long
	short  *shortener // takes a long line in place of line
	half   int64      // bytes of the line that are known to have no end
	Loose  bool       // the cursor may stand inside a line

	Allow func(at int64) error // asked before each piece is read; nil: always

	queue   []Item
	broken  int
	unknown int
	Limit   int64 // the memory that a line may take
}

// Open returns a reader that starts at c. The file is opened by the first Next, and need not exist
// yet.
func (f *Form) Open(c talk.Cursor) *Reader {
	return &Reader{form: f, start: c, next: c.Offset, Limit: Budget() * lineShare / 100}
}

// ErrUnknown is what a form returns for a line of a kind that it does not know. Agents add kinds with
// each version.
var ErrUnknown = errors.New("unknown kind")

// Unknown returns the number of lines of unknown kinds that were passed.
func (r *Reader) Unknown() int { return r.unknown }

// Broken returns the number of lines that were passed because they are not JSON or too long.
func (r *Reader) Broken() int { return r.broken }

// Next returns the next item. False says that there is nothing more now: it is the end of the file,
// half a line, or there is no file yet. ErrTruncated says that the file is not the one that was
// being read; the reader is then of no use.
func (r *Reader) Next() (item Item, ok bool, err error) {
	switch {
	case len(r.queue) > 0:
		return r.item()
	case r.isAtEnd(): // nothing is read, so nothing is noted
		return Item{}, false, r.check()
	}
	err = r.noted(func() (err error) {
		item, ok, err = r.item()
		return err
	})
	return item, ok, err
}

// isAtEnd reports whether all that the open file has was read, as far as its size shows.
func (r *Reader) isAtEnd() bool {
	if r.file == nil || r.in.Buffered() > 0 {
		return false
	}
	r.long.release() // of a read that an error has ended
	info, err := r.file.Stat()
	return err == nil && info.Size() == r.next+r.length
}

// noted calls read while it is noted on disk.
func (r *Reader) noted(read func() error) error {
	r.long.release() // of a read that an error has ended
	return Noted(r.start.Path, read)
}

// item is Next without a note.
func (r *Reader) item() (Item, bool, error) {
	if ok, err := r.fill(); err != nil || !ok {
		return Item{}, false, err
	}
	item := r.queue[0]
	r.queue = r.queue[1:]
	return item, true, nil
}

// fill reads lines until there is an item.
func (r *Reader) fill() (bool, error) {
	for len(r.queue) == 0 {
		l, ok, err := r.readLine()
		if err != nil || !ok {
			return false, err
		}
		items, err := r.form.read(l)
		at := l.At
		r.long.release()
		switch { // one bad line must not stop a session
		case errors.Is(err, ErrUnknown):
			r.unknown++
		case err != nil:
			r.broken++
		}
		r.queue = r.place(items, at)
	}
	return true, nil
}

// Close closes the file. Next then returns fs.ErrClosed.
func (r *Reader) Close() error {
	r.closed = true
	r.long.release()
	if r.file == nil {
		return nil
	}
	file := r.file
	r.file = nil
	return file.Close()
}

// place sets the cursors of the items of the line at offset and drops the items before the start.
func (r *Reader) place(items []Item, offset int64) []Item {
	first := 0
	if offset == r.start.Offset {
		first = min(r.start.Block, len(items))
	}
	for i := range items {
		item := &items[i]
		item.At = talk.Cursor{Path: r.start.Path, Offset: offset, Block: i}
		item.Next = talk.Cursor{Path: r.start.Path, Offset: offset, Block: i + 1}
	}
	if len(items) > 0 {
		items[len(items)-1].Next = talk.Cursor{Path: r.start.Path, Offset: r.next}
	}
	if offset == r.start.Offset && first < len(items) {
		items[first].At = r.start
	}
	return items[first:]
}

// Each calls see with the whole lines from here on, until it returns false.
func (r *Reader) Each(see func(l Line) bool) error {
	defer r.long.release()
	return r.noted(func() error {
		for {
			l, ok, err := r.readLine()
			if err != nil || !ok || !see(l) {
				return err
			}
		}
	})
}

// readLine returns one whole line; next is then after its line break. The line is valid until the
// next call. A line that is too long even without its long strings, or that the start cuts, has no
// text. A long line is held: see longLines.
func (r *Reader) readLine() (l Line, ok bool, err error) {
	r.long.release()
	if ok, err := r.open(); err != nil || !ok {
		return l, false, err
	}
	for {
		if r.Allow != nil {
			if err := r.Allow(r.next + r.length); err != nil {
				return l, false, err
			}
		}
		chunk, err := r.in.ReadSlice('\n')
		// The latter: it was cut since.
		if !r.take(chunk) || err != nil && r.short != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return l, false, errors.Join(r.rewind(), r.check())
		}
		switch {
		case err == nil:
			return r.finish(), true, nil
		case errors.Is(err, io.EOF):
			return l, false, r.check()
		case !errors.Is(err, bufio.ErrBufferFull):
			return l, false, fmt.Errorf("read transcript: %w", err)
		}
	}
}

// finish returns the line whose end was read.
func (r *Reader) finish() Line {
	l := Line{Text: r.line, At: r.next, End: r.next + r.length, short: r.short}
	if r.skip {
		l.Text = nil
	}
	if r.short != nil {
		if l.Text = r.short.out; r.short.over {
			r.broken++
		}
	}
	r.next, r.length, r.half, r.skip, r.short = l.End, 0, 0, false, nil
	r.line = r.line[:0]
	if cap(r.line) > keptBuffer {
		r.line = nil
	}
	return l
}

// take adds a piece to the line being read. It returns false if the line is long and its end is not
// written yet: then nothing of it stays in memory, and rewind makes the next read begin with it
// again. Half a line that is not long stays here until the rest is written.
func (r *Reader) take(chunk []byte) (ok bool) {
	r.length += int64(len(chunk))
	if !r.skip && r.short == nil && len(r.line) > keptBuffer && len(r.line)+len(chunk) > cap(r.line) {
		rest, whole := r.rest()
		switch total := r.length + rest; {
		case total > longLine && !whole:
			r.half = total
			return false
		case total > longLine:
			r.long.take(min(total, r.Limit))
			r.short = newShortener(total, r.Limit)
			r.short.write(r.line)
			r.line = nil
		default: // a line that grows piece by piece would need several times its length
			r.line = slices.Grow(r.line, len(chunk)+int(rest))
		}
	}
	switch {
	case r.skip:
	case r.short != nil:
		r.short.write(chunk)
	default:
		r.line = append(r.line, chunk...)
	}
	return true
}

// rest returns how much of the line the file has after what was taken, and whether its end is
// there.
func (r *Reader) rest() (n int64, whole bool) {
	n = max(0, r.half-r.length)
	after := bufio.NewReaderSize(io.NewSectionReader(r.file, r.next+r.length+n, math.MaxInt64-r.next-r.length-n), mostAhead)
	for {
		chunk, err := after.ReadSlice('\n')
		n += int64(len(chunk))
		// The end, or an error that the next read of the line also finds.
		if !errors.Is(err, bufio.ErrBufferFull) {
			return n, err == nil
		}
	}
}

// rewind goes back to the start of the line.
func (r *Reader) rewind() error {
	r.line, r.length, r.short = nil, 0, nil
	r.long.release()
	_, err := r.file.Seek(r.next, io.SeekStart)
	r.in.Reset(r.file)
	return err
}

func (r *Reader) open() (bool, error) {
	if r.closed {
		return false, fs.ErrClosed
	}
	if r.file != nil {
		return true, nil
	}
	file, info, err := OpenFile(r.start.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("open transcript: %w", err)
	}
	if err := r.seek(file); err != nil {
		return false, errors.Join(err, file.Close())
	}
	ahead := min(max(info.Size()-r.start.Offset, leastAhead), mostAhead)
	r.file, r.in = file, bufio.NewReaderSize(file, int(ahead))
	return true, nil
}

// OpenFile opens a transcript that is only shown. Its owner is not checked, because agents may
// run as another user than ccbot.
func OpenFile(path string) (*os.File, fs.FileInfo, error) {
	file, info, err := ownfile.Open(path, ownfile.Others)
	if !errors.Is(err, syscall.ELOOP) {
		return file, info, err
	}
	real, ok := RealPath(path)
	if !ok {
		return nil, nil, wording.Errorf("%s: a link to another transcript: %w", wording.Path(path), ownfile.ErrForeign)
	}
	return ownfile.Open(real, ownfile.Others)
}

// RealPath follows the links of a transcript's path. It reports whether the file has the same
// name: an agent can replace its transcript by a link to another session's.
func RealPath(path string) (real string, ok bool) {
	real, err := filepath.EvalSymlinks(path)
	return real, err == nil && filepath.Base(real) == filepath.Base(path)
}

// seek goes to the cursor and proves that a line starts there.
func (r *Reader) seek(file *os.File) error {
	offset := r.start.Offset
	if offset == 0 {
		return nil
	}
	before := make([]byte, 1)
	if _, err := file.ReadAt(before, offset-1); errors.Is(err, io.EOF) {
		return wording.Errorf("%w: %s ends before offset %d", history.ErrTruncated, wording.Path(r.start.Path), offset)
	} else if err != nil {
		return fmt.Errorf("open transcript at offset %d: %w", offset, err)
	}
	if before[0] != '\n' {
		if !r.Loose {
			return wording.Errorf("%w: %s has no line at offset %d", history.ErrTruncated, wording.Path(r.start.Path), offset)
		}
		r.skip = true
	}
	_, err := file.Seek(offset, io.SeekStart)
	return err
}

// check is called at the end of the file. It checks that the path still names this file, and that
// the file is not shorter than the part that was read. The open descriptor keeps the inode from
// being used again. If the file was cut and grew past this place again between two reads, that is
// not noticed.
func (r *Reader) check() error {
	ours, err := r.file.Stat()
	if err != nil {
		return fmt.Errorf("check transcript: %w", err)
	}
	if ours.Size() < r.next+r.length {
		return wording.Errorf("%w: %s is shorter than what was read", history.ErrTruncated, wording.Path(r.start.Path))
	}
	named, err := os.Stat(r.start.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the file was removed: there is nothing more until another takes its place
	}
	if err != nil {
		return fmt.Errorf("check transcript: %w", err)
	}
	if !os.SameFile(ours, named) {
		return wording.Errorf("%w: %s is another file now", history.ErrTruncated, wording.Path(r.start.Path))
	}
	return nil
}

// End is the function End.
func (f *Form) End(path string) (talk.Cursor, error) { return End(path) }

// End returns the cursor after the last whole line of a transcript, for reading only new items.
// Half a line at the end is not passed, because no line would start after it.
func End(path string) (talk.Cursor, error) {
	file, info, err := OpenFile(path)
	if err != nil {
		return talk.Cursor{}, fmt.Errorf("find the end of a transcript: %w", err)
	}
	defer file.Close()
	buffer := make([]byte, 64<<10)
	for end := info.Size(); end > 0; {
		start := max(0, end-int64(len(buffer)))
		chunk := buffer[:end-start]
		if _, err := file.ReadAt(chunk, start); err != nil {
			return talk.Cursor{}, fmt.Errorf("find the end of a transcript: %w", err)
		}
		if i := bytes.LastIndexByte(chunk, '\n'); i >= 0 {
			return talk.Cursor{Path: path, Offset: start + int64(i) + 1}, nil
		}
		end = start
	}
	return talk.Cursor{Path: path}, nil
}

// Follower reads a transcript and waits for more without polling. The file may not exist yet, nor
// its folders: Claude Code makes them at the first prompt. It is used by one goroutine at a time.
type Follower struct {
	path     string
	reader   *Reader
	room     *watch.Watcher
	folder   *watch.Watch // watched since Next waited for more
	log      *slog.Logger
	reported int  // broken lines already logged
	unknown  bool // a line of an unknown kind is logged
}

// Follower returns a follower that starts at c.
func (f *Form) Follower(c talk.Cursor, room *watch.Watcher, log *slog.Logger) *Follower {
	return &Follower{path: filepath.Clean(c.Path), reader: f.Open(c), room: room, log: log}
}

// Next returns the next item, waiting for it until ctx ends. ErrTruncated is as for Reader.Next.
func (f *Follower) Next(ctx context.Context) (Item, error) {
	for {
		if err := ctx.Err(); err != nil {
			return Item{}, err
		}
		item, ok, err := f.Now()
		if err != nil || ok {
			return item, err
		}
		if f.folder == nil {
			// The folder is watched and not the file, because only the folder shows when another
			// file takes the place of this one.
			name := filepath.Base(f.path)
			f.folder = f.room.Watch(filepath.Dir(f.path), func(entry string, _ bool) bool { return entry == name })
		}
		if _, err := f.folder.Wait(ctx); err != nil {
			return Item{}, err
		}
	}
}

// Now is Next without waiting; false says that there is nothing more for now.
func (f *Follower) Now() (Item, bool, error) {
	item, ok, err := f.reader.Next()
	if n := f.reader.Broken(); n > f.reported {
		f.log.Warn("transcript_broken_lines", logkey.Path, wording.Path(f.path), logkey.Count, n)
		f.reported = n
	}
	if f.reader.Unknown() > 0 && !f.unknown {
		f.log.Debug("transcript_unknown_lines", logkey.Path, wording.Path(f.path))
		f.unknown = true
	}
	return item, ok, err
}

// Close releases the file and the watch. It must not run at the same time as Next: end Next first,
// by its context.
func (f *Follower) Close() error {
	if f.folder != nil {
		f.folder.Close()
	}
	return f.reader.Close()
}
