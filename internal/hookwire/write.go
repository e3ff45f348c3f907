package hookwire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// The folders below $CCBOT_DIR that hooks write to.
const (
	EventsFolder   = "events"
	BindingsFolder = "bindings"
)

// nameTime is a UTC time of fixed width, so that names sort by time.
const nameTime = "20060102T150405.000000000Z"

// maxSeq limits the search for a free name; a second try is needed only when the clock does not
// advance.
const maxSeq = 1000

// WriteEvent writes e to dir/events/<time>-<pid>-<seq>.json under a temporary dot name and renames
// it. dir is $CCBOT_DIR and must exist (fs.ErrNotExist otherwise); its events folder is made when
// missing. The file survives kill -9 of the writer, but not a power cut: a person's prompt waits
// for the hook, so the hook does not sync.
func WriteEvent(dir string, e Event) error {
	data, err := json.Marshal(e)
	folder := filepath.Join(dir, EventsFolder)
	if err == nil {
		err = makeFolder(folder)
	}
	if err != nil {
		return fmt.Errorf("event: %w", err)
	}
	when := e.Received
	if when.IsZero() {
		when = time.Now()
	}
	for seq := range maxSeq {
		err = writeNew(folder, fmt.Sprintf("%s-%d-%d.json", when.UTC().Format(nameTime), os.Getpid(), seq), data)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("event: %w", err)
	}
	return nil
}

// WriteBinding writes b to dir/bindings/<boot>-<pid>-<start>.json by rename and reports whether it
// wrote. A file with the same content is left alone: its mtime shows since when the binding holds.
func WriteBinding(dir string, b Binding) (written bool, err error) {
	return update(filepath.Join(dir, BindingsFolder, b.Name()), "binding", b, MaxBinding, func(old Binding) bool { return old == b })
}

// update writes a file by rename, unless the one that is there has the same content.
func update[T checked](path, what string, v T, limit int, same func(old T) bool) (written bool, err error) {
	if err := v.check(); err != nil {
		return false, fmt.Errorf("%s: %w: %w", what, ErrMalformed, err)
	}
	if data, err := readFile(path, limit); err == nil {
		if old, err := read[T](what, data); err == nil && same(old) {
			return false, nil
		}
	}
	data, err := json.Marshal(v)
	if err == nil {
		err = makeFolder(filepath.Dir(path))
	}
	if err == nil {
		err = replace(path, data)
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", what, err)
	}
	return true, nil
}

// Name is the file name of the binding, which names one process for its whole life.
func (b Binding) Name() string {
	return fmt.Sprintf("%s-%d-%d.json", b.Boot, b.PID, b.Start)
}

// EventTime reads the time from the name of an event file; false when the name has another form.
func EventTime(name string) (time.Time, bool) {
	stamp, _, _ := strings.Cut(name, "-")
	t, err := time.Parse(nameTime, stamp)
	return t, err == nil
}

// makeFolder makes a folder of the state folder but never that one: without it there is no bot that would read
// the files.
func makeFolder(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// writeNew writes a file that does not exist yet; fs.ErrExist when the name is taken. The temporary
// file reserves the name: its writer then checks whether the final name exists. This has no gap,
// because the rename removes the temporary name in the same step in which it makes the final one.
func writeNew(folder, name string, data []byte) error {
	temp := filepath.Join(folder, "."+name)
	file, err := create(temp)
	if err != nil {
		return err
	}
	final := filepath.Join(folder, name)
	if _, err := os.Lstat(final); err == nil {
		return errors.Join(fs.ErrExist, file.Close(), os.Remove(temp))
	}
	return fill(file, temp, final, data)
}

func replace(path string, data []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	return fill(file, file.Name(), path, data)
}

// fill writes data and renames the file to its final name. A half-written file (a full disk) is
// removed.
func fill(file *os.File, temp, final string, data []byte) error {
	_, err := file.Write(data)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(temp, final)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return nil
}

// readFile reads a whole small file; EFBIG when it has more than limit bytes. Unlike os.ReadFile it
// does not use the poller, which costs six system calls per file: a hook opens five or more files
// for each prompt.
func readFile(path string, limit int) ([]byte, error) {
	fd, err := again(func() (int, error) { return syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0) })
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = syscall.Close(fd) }() // nothing was written
	data := make([]byte, 0, 1024)
	for len(data) <= limit {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := again(func() (int, error) { return syscall.Read(fd, data[len(data):cap(data)]) })
		if err != nil {
			return nil, &os.PathError{Op: "read", Path: path, Err: err}
		}
		if n == 0 {
			return data, nil
		}
		data = data[:len(data)+n]
	}
	return nil, &os.PathError{Op: "read", Path: path, Err: syscall.EFBIG}
}

// create makes a file that does not exist yet, also without the poller.
func create(path string) (*os.File, error) {
	fd, err := again(func() (int, error) {
		return syscall.Open(path, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL|syscall.O_CLOEXEC, 0o600)
	})
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// again repeats a call that a signal interrupted; the runtime's own signals do that.
func again(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}
