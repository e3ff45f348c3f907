package hookwire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
	if err != nil {
		return fmt.Errorf("event: %w", err)
	}
	folder, err := subfolder(dir, EventsFolder)
	if err != nil {
		return fmt.Errorf("event: %w", err)
	}
	when := e.Received
	if when.IsZero() {
		when = time.Now()
	}
	for seq := range maxSeq {
		err = writeNew(folder, eventName(when, os.Getpid(), seq), data)
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
// wrote. A file with the same content apart from Event is left alone: its mtime shows since when
// the binding holds.
func WriteBinding(dir string, b Binding) (written bool, err error) {
	if err := b.check(); err != nil {
		return false, fmt.Errorf("binding: %w: %w", ErrMalformed, err)
	}
	folder, err := subfolder(dir, BindingsFolder)
	if err != nil {
		return false, fmt.Errorf("binding: %w", err)
	}
	path := filepath.Join(folder, b.Name())
	if sameBinding(path, b) {
		return false, nil
	}
	data, err := json.Marshal(b)
	if err != nil {
		return false, fmt.Errorf("binding: %w", err)
	}
	if err := replace(folder, path, data); err != nil {
		return false, fmt.Errorf("binding: %w", err)
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

func eventName(when time.Time, pid, seq int) string {
	return when.UTC().Format(nameTime) + "-" + strconv.Itoa(pid) + "-" + strconv.Itoa(seq) + ".json"
}

// subfolder makes dir/name but never dir: without a state folder there is no bot that would read
// the files.
func subfolder(dir, name string) (string, error) {
	folder := filepath.Join(dir, name)
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return folder, nil
}

func sameBinding(path string, b Binding) bool {
	data, err := readFile(path, MaxBinding)
	if err != nil {
		return false
	}
	old, err := ReadBinding(data)
	if err != nil {
		return false
	}
	old.Event, b.Event = "", ""
	return old == b
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

func replace(folder, path string, data []byte) error {
	file, err := os.CreateTemp(folder, ".new-*")
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
