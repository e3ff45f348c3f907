package hookwire

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// RowsSuffix ends the name of the file in status/ with the last outputs of the person's own status
// line command in a launch.
const RowsSuffix = ".rows"

const (
	// MaxRows limits one output, in bytes. A longer one is not kept.
	MaxRows = 16 << 10
	// keptRows is the number of kept outputs: Claude Code may show an older one than the last.
	keptRows = 3
)

// between separates the outputs in the file. An output with a NUL is not kept.
const between = "\x00"

// WriteRows adds an output to dir/status/<launch>.rows, unless it is the last one there already.
// dir must exist.
func WriteRows(dir, launch string, output []byte) error {
	switch {
	case !isUUID(launch): // it is the file's name
		return fmt.Errorf("rows of a status line: %w: launch %q", ErrMalformed, clip(launch, 64))
	case len(output) > MaxRows || bytes.Contains(output, []byte(between)):
		return errors.New("rows of a status line: too long, or not text")
	}
	path := filepath.Join(dir, StatusFolder, launch+RowsSuffix)
	all := ReadRows(path)
	if len(all) > 0 && all[0] == string(output) {
		return nil
	}
	all = append([]string{string(output)}, all...)
	err := makeFolder(filepath.Dir(path))
	if err == nil {
		err = replace(path, []byte(strings.Join(all[:min(len(all), keptRows)], between)))
	}
	if err != nil {
		return fmt.Errorf("rows of a status line: %w", err)
	}
	return nil
}

// ReadRows returns the outputs in a file, the newest first; nil if there are none.
func ReadRows(path string) []string {
	data, err := readFile(path, keptRows*(MaxRows+len(between)))
	if err != nil || len(data) == 0 {
		return nil
	}
	return strings.Split(string(data), between)
}
