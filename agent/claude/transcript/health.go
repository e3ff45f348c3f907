package transcript

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"ccbot/agent"
	"ccbot/agent/jsonl"
	"ccbot/internal/ownfile"
	"ccbot/internal/spool"
	"ccbot/internal/wording"
)

// The faults. With the first two Claude Code 2.1.328 resumes and loses the damaged line; 2.1.197
// also appends the next line that it writes to the half line, and loses that one too. With the
// third the working folder decides which file is taken, and from a folder that holds none of them
// there is no conversation.
const (
	// The last line is not whole, even if only its line break is missing.
	FaultHalfLine  agent.Fault = "half_line"
	FaultNUL       agent.Fault = "nul"       // NUL bytes, as a power cut leaves them
	FaultDuplicate agent.Fault = "duplicate" // several files carry the session's id
)

// tailSize is the number of bytes of a file that Check reads.
const tailSize = 1 << 20

// Check reads a session's transcript before it is resumed. fs.ErrNotExist: there is no transcript,
// which is not a fault. agent.ErrNothingLeft: there is nothing to resume and nothing to repair, as
// the file is empty, or consists of NULs, half a line, or bookkeeping; Health is filled all the
// same. Claude Code 2.1.328 neither resumes such an id nor starts a session with it.
//
// Path is the file with the last whole line that ends farthest from the start of its file; of equal
// ones, the newest. Claude Code itself takes the file of its working folder, whatever that file
// holds.
//
// Only the last MiB of each file is read, so that a gigabyte costs nothing. So Check does not see
// two things in the part before it: NULs after which the session has written more than a MiB, and
// that a larger file holds nothing but NULs (Repair finds that out). Damaged lines before whole
// lines are not a fault, because a resume has already come past them.
//
// A line that is being written at this moment looks like half a line, so callers must make sure
// that no writer lives.
func Check(projectsDir string, id uuid.UUID) (agent.Health, error) {
	tails, err := tailsOf(projectsDir, id)
	if err != nil {
		return agent.Health{}, fmt.Errorf("check transcript: %w", err)
	}
	best := tails[0]
	h := agent.Health{Path: best.path, Size: best.info.Size(), Faults: best.faults}
	for _, t := range tails[1:] {
		if t.spoken { // Claude Code ignores a file without such a line
			h.Others = append(h.Others, t.path)
		}
	}
	if !best.spoken {
		return h, wording.Errorf("check transcript %s: %w", wording.Path(h.Path), agent.ErrNothingLeft)
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
		var t tail
		err := jsonl.Noted(f.path, func() (err error) {
			t, err = readTail(f.path, tailSize)
			return err
		})
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

// tail describes the end of a file.
type tail struct {
	path   string
	info   fs.FileInfo
	faults []agent.Fault // all but FaultDuplicate
	end    int64         // after the last whole line; 0: none in sight
	spoken bool          // a line of the conversation is in sight, or the file is too large to exclude one
}

func readTail(path string, window int64) (tail, error) {
	// A link to a file of this user is followed, as Claude Code does; a file that belongs to
	// another user is not copied.
	file, info, err := ownfile.Open(path, ownfile.Links)
	if err != nil {
		return tail{}, err
	}
	defer file.Close()
	start := max(0, info.Size()-window)
	data := make([]byte, info.Size()-start)
	n, err := file.ReadAt(data, start)
	// The file is shorter than a moment ago: then its end is here.
	if err != nil && !errors.Is(err, io.EOF) {
		return tail{}, err
	}
	t := judge(data[:n], start > 0)
	t.path, t.info = path, info
	if t.end > 0 {
		t.end += start
	}
	return t, nil
}

// judge judges the last bytes of a file. cut says that the file has more bytes before them.
func judge(data []byte, cut bool) tail {
	t := tail{spoken: cut}
	if bytes.IndexByte(data, 0) >= 0 {
		t.faults = append(t.faults, FaultNUL)
	}
	at, first := 0, 0 // only the end of a line that begins before the data can be judged
	if cut {
		at, first = bytes.IndexAny(data, lineBreaks)+1, bytes.IndexByte(data, '\n')+1
	}
	last := true // is whole
	for at < len(data) {
		n, line, _ := splitLine(data[at:], true)
		at += n
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		e, whole := readEntry(line)
		if last = whole; whole && at > first {
			t.end = int64(at)
			t.spoken = t.spoken || e.spoken()
		}
	}
	// NULs around the last line are a separate fault.
	if text := bytes.TrimRight(data, "\x00"); !last || len(text) > 0 && text[len(text)-1] != '\n' {
		t.faults = append(t.faults, FaultHalfLine)
	}
	return t
}

// Repair writes a copy of h.Path under the session id as, in the same folder, and leaves the
// original as it is. The copy has every whole line, in order, without NULs. A last line that only
// lacks its line break is included; a last line with NULs inside is not. The sessionId of each line
// becomes as, and so `--resume` takes the copy for a conversation with that id (seen with Claude
// Code 2.1.328, which also leaves other mentions alone when it forks). Data that Claude Code keeps
// elsewhere under the old id, such as checkpoints of code, stays there.
//
// The copy is on disk when Repair returns. It exists as a whole or not at all; a crash may leave a
// file .UUID.tmp, which Claude Code does not look at. fs.ErrExist: a transcript with the id as
// exists already. ErrNothingLeft: the file has no whole line of the conversation. A line of more
// than Budget is an error, because it would not fit in memory.
//
// Nothing is written outside the projects folder, wherever links in it lead.
func Repair(h agent.Health, id, as uuid.UUID) (path string, err error) {
	if err := jsonl.Noted(h.Path, func() error { return repair(h.Path, id, as) }); err != nil {
		return "", wording.Errorf("repair transcript %s: %w", wording.Path(h.Path), err)
	}
	return filepath.Join(filepath.Dir(h.Path), as.String()+suffix), nil
}

func repair(path string, id, as uuid.UUID) error {
	if filepath.Base(path) != id.String()+suffix {
		return fmt.Errorf("not the transcript of %s", id)
	}
	dir := filepath.Dir(path)
	projects := filepath.Dir(dir)
	if _, err := files(projects, as); err == nil {
		return fmt.Errorf("%w: a transcript of %s", fs.ErrExist, as)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	source, _, err := ownfile.Open(path, ownfile.Links)
	if err != nil {
		return err
	}
	defer source.Close()
	root, err := os.OpenRoot(projects)
	if err != nil {
		return err
	}
	defer root.Close()
	folder, err := root.OpenRoot(filepath.Base(dir))
	if err != nil {
		return err
	}
	defer folder.Close()
	return create(folder, as.String()+suffix, func(w io.Writer) error { return copyWhole(w, source, id, as) })
}

// create makes a file that is either whole and on disk, or does not exist. Its temporary name is
// unique, and a hard link never replaces another file: so two calls that make the same name at the
// same time cannot mix.
func create(folder *os.Root, name string, fill func(io.Writer) error) (err error) {
	temp := "." + uuid.NewString() + ".tmp"
	file, err := folder.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Remove(temp)) }()
	if err = fill(file); err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := folder.Link(temp, name); err != nil {
		return err
	}
	if err := spool.SyncFolder(folder.Open(".")); err != nil {
		return errors.Join(err, folder.Remove(name))
	}
	return nil
}

// copyWhole copies the whole lines of a transcript and gives them another session id.
func copyWhole(w io.Writer, r io.Reader, id, as uuid.UUID) error {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 256<<10), int(jsonl.Budget()))
	in.Split(splitLine)
	out := bufio.NewWriterSize(w, 256<<10)
	spoken := false
	for in.Scan() {
		e, whole := readEntry(in.Bytes())
		if !whole {
			continue
		}
		spoken = spoken || e.spoken()
		rename(in.Bytes(), id, as)
		// A bufio.Writer keeps its error: Flush returns it.
		_, _ = out.Write(in.Bytes())
		_ = out.WriteByte('\n')
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("read its lines: %w", err)
	}
	if !spoken {
		return agent.ErrNothingLeft
	}
	return out.Flush()
}

const lineBreaks = "\n\x00"

// splitLine is a bufio.SplitFunc for lines without their breaks. A NUL also ends a line, because a
// power cut may leave a whole line right after a stretch of NULs. Such a stretch is skipped without
// being buffered.
func splitLine(data []byte, atEOF bool) (advance int, line []byte, err error) {
	text := bytes.TrimLeft(data, lineBreaks)
	skipped := len(data) - len(text)
	if i := bytes.IndexAny(text, lineBreaks); i >= 0 {
		return skipped + i + 1, text[:i], nil
	}
	if atEOF && len(text) > 0 {
		return len(data), text, nil
	}
	return skipped, nil, nil
}

// rename replaces the line's own session id, in place, because ids have one length. The same key
// deeper inside may be the input of a tool call, and stays.
func rename(line []byte, id, as uuid.UUID) {
	if own := gjson.GetBytes(line, "sessionId"); own.Raw == `"`+id.String()+`"` {
		copy(line[own.Index+1:], as.String())
	}
}
