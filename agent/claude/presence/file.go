package presence

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/agent/witness"
	"ccbot/internal/lazyregexp"
	"ccbot/internal/ownfile"
	"ccbot/internal/pause"
)

// Status is the agent's activity, in Claude Code's words.
type Status = witness.Status

// The statuses that are known.
const (
	Idle    = witness.Idle
	Shell   = witness.Shell
	Busy    = witness.Busy
	Waiting = witness.Waiting
)

// File is one presence file.
type File = witness.Presence

// ErrTorn means that a file was half-written for longer than a rewrite takes.
var ErrTorn = errors.New("presence: half-written file")

// Dir is a folder of presence files.
type Dir struct {
	Path string // <config>/sessions
}

// maxSize is far above the 600 bytes of a real file.
const maxSize = 1 << 20

// pauses are the times between two reads of a file that is being rewritten, 50 ms in total.
var pauses = [...]time.Duration{time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 12 * time.Millisecond, 30 * time.Millisecond}

// Read reads the file of one pid. It returns fs.ErrNotExist if there is no file, and [ErrTorn] if
// the file was half-written at every attempt within 50 ms; after either error the state of the
// process is unknown.
func (d Dir) Read(ctx context.Context, pid int) (File, error) {
	path := d.path(pid)
	for _, wait := range pauses {
		f, err := readOnce(path, pid)
		if !errors.Is(err, ErrTorn) {
			return f, err
		}
		if err := pause.For(ctx, wait); err != nil {
			return File{}, fmt.Errorf("presence: read %s: %w", path, err)
		}
	}
	return readOnce(path, pid)
}

// List reads all files. A folder that does not exist counts as empty. unread has, by their pids,
// the errors of files that exist and could not be read: it is unknown what these processes do. err
// is about the folder.
func (d Dir) List(ctx context.Context) (files []File, unread map[int]error, err error) {
	pids, err := d.pids()
	unread = make(map[int]error)
	for _, pid := range pids {
		f, err := d.Read(ctx, pid)
		switch {
		case errors.Is(err, fs.ErrNotExist): // ended since the listing
		case err != nil:
			unread[pid] = err
		default:
			files = append(files, f)
		}
	}
	return files, unread, err
}

func (d Dir) path(pid int) string { return filepath.Join(d.Path, strconv.Itoa(pid)+".json") }

func (d Dir) pids() ([]int, error) {
	entries, err := os.ReadDir(d.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("presence: list: %w", err)
	}
	var pids []int
	for _, entry := range entries {
		if pid, ok := pidOf(entry.Name()); ok {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// pidOf reads the pid from a file name; a key file (<pid>.<hash>.key) and any other name give
// false.
func pidOf(name string) (int, bool) {
	digits, ok := strings.CutSuffix(name, ".json")
	if !ok {
		return 0, false
	}
	pid, err := strconv.Atoi(digits)
	return pid, err == nil && pid > 0 && strconv.Itoa(pid) == digits
}

func readOnce(path string, pid int) (File, error) {
	var f File
	data, err := readStable(path)
	if err == nil {
		f, err = parse(data)
	}
	if err == nil && f.PID != pid {
		err = fmt.Errorf("it names pid %d", f.PID)
	}
	if err != nil {
		return File{}, fmt.Errorf("presence: read %s: %w", path, err)
	}
	return f, nil
}

// readStable returns ErrTorn when the file changed during the read: Claude Code truncates and
// writes the same file, so the beginning could belong to one state and the end to the next.
func readStable(path string) ([]byte, error) {
	f, before, err := ownfile.Open(path, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if before.Size() > maxSize {
		return nil, fmt.Errorf("%d bytes are too many", before.Size())
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSize))
	if err != nil {
		return nil, err
	}
	after, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if after.Size() != int64(len(data)) || !after.ModTime().Equal(before.ModTime()) {
		return nil, fmt.Errorf("%w: changed while it was read", ErrTorn)
	}
	return data, nil
}

// parse reads the fields that it knows and tolerates any shape of the others: only pid and session
// id must be right. Data that is not one complete JSON object gives ErrTorn.
func parse(data []byte) (File, error) {
	var raw object
	if err := json.Unmarshal(data, &raw); err != nil || raw == nil {
		return File{}, fmt.Errorf("%w: %d bytes", ErrTorn, len(data))
	}
	f := File{
		PID: int(raw.number("pid")), ProcStart: raw.number("procStart"), Status: Status(raw.text("status")), Version: raw.text("version"),
		UpdatedAt: raw.time("updatedAt"), StatusAt: raw.time("statusUpdatedAt"),
	}
	if dir := raw.text("cwd"); filepath.IsAbs(dir) {
		f.Dir = filepath.Clean(dir)
	}
	f = WaitsFor(f, raw.text("waitingFor"))
	switch job := raw.text("parkedJobId"); {
	case isJob.MatchString(job):
		f.Attach = Attach + job
	case job != "":
		f.Attach = "claude agents" // a job with an id of another form is in that list
	}
	id := raw.text("sessionId")
	var err error
	if f.SessionID, err = uuid.Parse(id); err != nil || len(id) != 36 || f.SessionID == uuid.Nil {
		return File{}, fmt.Errorf("sessionId %q is not a UUID", id)
	}
	return f, nil
}

// Attach is the command that shows a job in Claude Code's background; the job's id follows, the first
// eight characters of its conversation's id.
const Attach = "claude attach "

var isJob = lazyregexp.New(`^[0-9a-f]{8}$`)

// WaitsFor returns the file of an agent that waits for a thing, in Claude Code's words. 2.1.128 names
// the tool ("approve Bash"), and 2.1.197 also calls a question "permission prompt".
func WaitsFor(f File, what string) File {
	f.WaitingFor, f.Answer, f.Page = what, what == "input needed", what == "dialog open"
	f.Permission = what == "permission prompt" || strings.HasPrefix(what, "approve ")
	return f
}

type object map[string]json.RawMessage

func (o object) text(key string) (s string) {
	if json.Unmarshal(o[key], &s) != nil {
		return ""
	}
	return s
}

// time reads milliseconds since 1970.
func (o object) time(key string) time.Time {
	if ms := o.number(key); ms > 0 {
		return time.UnixMilli(int64(ms)).UTC()
	}
	return time.Time{}
}

// number accepts a whole number, also one that is written as a string.
func (o object) number(key string) uint64 {
	n, err := strconv.ParseUint(string(bytes.Trim(o[key], `"`)), 10, 63)
	if err != nil {
		return 0
	}
	return n
}
