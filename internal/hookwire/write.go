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

// nameTime is a fixed width UTC time, so that names sort by time.
const nameTime = "20060102T150405.000000000Z"

// maxSeq bounds the search for a free name; only a clock that stands still ever needs the second one.
const maxSeq = 1000

// WriteEvent writes e to dir/events/<time>-<pid>-<seq>.json under a temporary dot name and renames it. dir is
// $CCBOT_DIR and must exist (fs.ErrNotExist otherwise); its events folder is made when missing. The file survives
// kill -9 of the writer, not a power cut: a hook stands between a person and their prompt, so it does not sync.
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

// WriteBinding writes b to dir/bindings/<boot>-<pid>-<start>.json by rename and says whether it did. A file that
// already says the same, Event aside, is left alone: its mtime tells since when the binding holds.
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

// Name is the file name of the binding: it names one process for its whole life.
func (b Binding) Name() string {
	return fmt.Sprintf("%s-%d-%d.json", b.Boot, b.PID, b.Start)
}

// EventTime reads the time out of the name of an event file; false when it is not such a name.
func EventTime(name string) (time.Time, bool) {
	stamp, _, _ := strings.Cut(name, "-")
	t, err := time.Parse(nameTime, stamp)
	return t, err == nil
}

func eventName(when time.Time, pid, seq int) string {
	return when.UTC().Format(nameTime) + "-" + strconv.Itoa(pid) + "-" + strconv.Itoa(seq) + ".json"
}

// subfolder makes dir/name but never dir: without a state folder there is no bot to write for.
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

// writeNew writes a file that does not exist yet; fs.ErrExist when the name is taken. The temporary file reserves the
// name: whoever holds it looks whether the final name exists, and a rename frees the one only by making the other.
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

// fill writes data and renames the file to its final name. A half-written file (a full disk) is taken away again.
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
