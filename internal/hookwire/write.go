package hookwire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
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

// WriteEvent writes e to dir/events/<time>-<random>.json under a temporary dot name and renames it.
// dir is $CCBOT_DIR and must exist (fs.ErrNotExist otherwise); its events folder is made when
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
	name := fmt.Sprintf("%s-%d.json", when.UTC().Format(nameTime), rand.Uint64()) //nolint:gosec // for hooks of the same instant, and no secret
	if err := replace(filepath.Join(folder, name), data); err != nil {
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

// makeFolder makes a folder of the state folder but never that one: without it there is no bot that
// would read the files.
func makeFolder(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// replace writes a file under a temporary name and renames it. A half-written file (a full disk) is
// removed.
func replace(path string, data []byte) error {
	temp := filepath.Join(filepath.Dir(path), fmt.Sprintf(".new-%d", rand.Uint64())) //nolint:gosec // it is no secret
	file, err := create(temp)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(temp, path)
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
