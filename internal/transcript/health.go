package transcript

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/google/uuid"

	"ccbot/internal/ownfile"
)

// Fault is a defect of a transcript's file that a resume would suffer from.
type Fault string

// The faults. With the first two Claude Code 2.1.328 resumes and loses the damaged line; 2.1.197
// also appends the next line that it writes to the half line, and loses that one too. With the
// third the working folder decides which file is taken, and from a folder that holds none of them
// there is no conversation.
const (
	FaultHalfLine  Fault = "half_line" // the last line is not whole, even if only its line break is missing
	FaultNUL       Fault = "nul"       // NUL bytes, as a power cut leaves them
	FaultDuplicate Fault = "duplicate" // several files carry the session's id
)

// ErrNothingLeft says that a transcript exists but holds no line of the conversation: it is empty,
// or it consists of NULs, half a line, or bookkeeping. Claude Code 2.1.328 neither resumes such an
// id nor starts a session with it.
var ErrNothingLeft = errors.New("transcript: nothing left to resume")

// Health is the result of Check. Without faults a resume is safe.
type Health struct {
	// Path is the file that holds the most of the conversation: the one with the last whole line
	// that ends farthest from the start of its file; of equal ones, the newest. Claude Code itself
	// takes the file of its working folder, whatever that file holds.
	Path   string
	Others []string // further files with the same id that hold some of the conversation
	Size   int64    // of the file at Path
	Faults []Fault
}

// tailSize is how much of a file Check reads.
const tailSize = 1 << 20

// Check looks at a session's transcript before it is resumed. fs.ErrNotExist: there is no
// transcript, which is no fault. ErrNothingLeft: there is nothing to resume and nothing to repair;
// Health is filled all the same.
//
// Only the last MiB of each file is read, so that a gigabyte costs nothing. So Check does not see
// two things that lie before it: NULs after which the session has written more than a MiB, and that
// a larger file holds nothing but NULs (Repair finds that out). Damaged lines with whole lines
// behind them are no fault, because a resume has already come past them.
//
// A line that is being written at this moment looks like half a line, so callers must make sure
// that no writer lives.
func Check(projectsDir string, id uuid.UUID) (Health, error) {
	tails, err := tailsOf(projectsDir, id)
	if err != nil {
		return Health{}, fmt.Errorf("check transcript: %w", err)
	}
	best := tails[0]
	h := Health{Path: best.path, Size: best.info.Size(), Faults: best.faults}
	for _, t := range tails[1:] {
		if t.spoken { // Claude Code ignores a file without such a line
			h.Others = append(h.Others, t.path)
		}
	}
	if !best.spoken {
		return h, fmt.Errorf("check transcript %s: %w", h.Path, ErrNothingLeft)
	}
	if len(h.Others) > 0 {
		h.Faults = append(h.Faults, FaultDuplicate)
	}
	return h, nil
}

// tailsOf reads the tails of a session's files, and returns the file with the most of the
// conversation first. A file that is reached by two names counts once.
func tailsOf(projectsDir string, id uuid.UUID) ([]tail, error) {
	all, err := files(projectsDir, id)
	if err != nil {
		return nil, err
	}
	var tails []tail
	for _, f := range all {
		if slices.ContainsFunc(tails, func(t tail) bool { return os.SameFile(t.info, f.info) }) {
			continue
		}
		t, err := readTail(f.path, tailSize)
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone since it was listed
		}
		if err != nil {
			return nil, err
		}
		tails = append(tails, t)
	}
	if len(tails) == 0 {
		return nil, fs.ErrNotExist
	}
	slices.SortStableFunc(tails, func(a, b tail) int {
		return cmp.Or(cmp.Compare(b.end, a.end), b.info.ModTime().Compare(a.info.ModTime()))
	})
	return tails, nil
}

// tail is what the end of a file shows.
type tail struct {
	path   string
	info   fs.FileInfo
	faults []Fault // all but FaultDuplicate
	end    int64   // behind the last whole line; 0: none in sight
	spoken bool    // a line of the conversation is in sight, or the file is too large to exclude one
}

func readTail(path string, window int64) (tail, error) {
	// A link to a file of ours is followed, as Claude Code does; a file that belongs to another
	// user is not copied.
	file, info, err := ownfile.Open(path, ownfile.Links)
	if err != nil {
		return tail{}, err
	}
	defer file.Close()
	start := max(0, info.Size()-window)
	data := make([]byte, info.Size()-start)
	n, err := file.ReadAt(data, start)
	if err != nil && !errors.Is(err, io.EOF) { // the file is shorter than a moment ago: then its end is here
		return tail{}, err
	}
	t := look(data[:n], start > 0)
	t.path, t.info = path, info
	if t.end > 0 {
		t.end += start
	}
	return t, nil
}

// look judges the last bytes of a file. cut says that the file has more bytes before them.
func look(data []byte, cut bool) tail {
	t := tail{spoken: cut}
	if bytes.IndexByte(data, 0) >= 0 {
		t.faults = append(t.faults, FaultNUL)
	}
	if endsInHalf(data, cut) {
		t.faults = append(t.faults, FaultHalfLine)
	}
	at := 0
	if cut {
		at = bytes.IndexByte(data, '\n') + 1
	}
	for at < len(data) {
		n, line, _ := splitLine(data[at:], true)
		at += n
		if h, whole := readHeading(line); whole {
			t.end = int64(at)
			t.spoken = t.spoken || h.spoken()
		}
	}
	return t
}

// endsInHalf reports whether the last line is half a line. NULs around it are a separate fault. If
// the line begins before data, only its end can be judged.
func endsInHalf(data []byte, cut bool) bool {
	data = bytes.TrimRight(data, "\x00")
	if len(data) == 0 {
		return false
	}
	if data[len(data)-1] != '\n' {
		return true
	}
	data = bytes.TrimRight(data, lineBreaks+"\r\t ")
	start := bytes.LastIndexAny(data, lineBreaks) + 1
	if len(data) == 0 || start == 0 && cut {
		return false
	}
	_, whole := readHeading(data[start:])
	return !whole
}
