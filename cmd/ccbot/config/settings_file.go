package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"ccbot/cmd/ccbot/statefolder"
	"ccbot/internal/lazyregexp"
	"ccbot/internal/spool"
)

// underWay is the age up to which another program may still be writing a temporary file.
const underWay = time.Hour

// errEdit is returned if a file cannot be changed without changing other settings of it.
var errEdit = errors.New("cannot be changed without changing more than that: write these settings into it by hand")

// WriteSettings changes settings in a file, and reports whether there was something to change. All
// other lines stay. The file is replaced atomically, and only its owner can read it.
func WriteSettings(path string, changes map[string]string) (written bool, err error) {
	real, err := filepath.EvalSymlinks(path) // a link stays one
	if errors.Is(err, fs.ErrNotExist) {
		real, err = path, nil
	}
	if err != nil {
		return false, err
	}
	old, err := os.ReadFile(real)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	data, err := edited(old, changes)
	if err != nil {
		return false, fmt.Errorf("%s %w: %s", path, err, strings.Join(slices.Sorted(maps.Keys(changes)), ", "))
	}
	if bytes.Equal(data, old) {
		return false, nil
	}
	return true, replace(real, data)
}

// replace replaces the content of a file.
func replace(path string, data []byte) error {
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	// A random number of renameio has about 18 digits; a date that a person appends to the name has
	// fewer than 15.
	cutShort := regexp.MustCompile(`^\.` + regexp.QuoteMeta(filepath.Base(path)) + `\d{15,19}$`)
	for _, e := range entries { // left by a killed run, with the token
		info, err := e.Info()
		if err != nil || !cutShort.MatchString(e.Name()) || !info.Mode().IsRegular() ||
			time.Since(info.ModTime()) < underWay {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	pending, err := renameio.NewPendingFile(path, renameio.WithTempDir(dir), renameio.WithStaticPermissions(0o600))
	if err != nil {
		return err
	}
	defer func() { _ = pending.Cleanup() }() // after a successful replace this does nothing
	if _, err := pending.Write(data); err != nil {
		return err
	}
	if err := pending.CloseAtomicallyReplace(); err != nil {
		return err
	}
	return spool.SyncFolder(os.Open(dir))
}

// edited returns the text of a settings file with some settings changed. If a setting occurs more
// than once the last one counts when the file is read, so one line of it is kept.
func edited(old []byte, changes map[string]string) ([]byte, error) {
	before, err := statefolder.ParseSettings(string(old))
	if err != nil {
		return nil, errEdit // the reason could show a line of the file
	}
	text := strings.TrimPrefix(string(old), statefolder.ByteOrderMark)
	want := maps.Clone(before)
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(changes))) { // the token first
		if value, there := before[name]; there && value == changes[name] {
			continue
		}
		want[name] = changes[name]
		text = withSetting(text, name, quoted(changes[name]))
	}
	after, err := statefolder.ParseSettings(text)
	// as where a line belongs to a value of several lines
	if err != nil || !maps.Equal(after, want) {
		return nil, errEdit
	}
	if maps.Equal(before, want) {
		return old, nil
	}
	return []byte(text), nil
}

// plainValue matches values that need no quotes.
var plainValue = lazyregexp.New(`^[A-Za-z0-9_.,:/@%+=~-]*$`)

// quoted returns a value as it is written in a settings file. Single quotes take no expansion;
// edited refuses a value for which they are not enough.
func quoted(value string) string {
	if plainValue.MatchString(value) {
		return value
	}
	return "'" + value + "'"
}

// withSetting replaces the line of a setting, or appends one.
func withSetting(text, name, value string) string {
	line := regexp.MustCompile(`^([ \t]*(?:export[ \t]+)?` + name + `[ \t]*[=:][ \t]*)[^\n]*?([ \t]+#[^\n"']*)?(\r?\n?)$`)
	var b strings.Builder
	placed := false
	for l := range strings.Lines(text) {
		m := line.FindStringSubmatch(l)
		switch {
		case m == nil:
			b.WriteString(l)
		case !placed:
			b.WriteString(m[1] + value + m[2] + m[3])
			placed = true
		}
	}
	if placed {
		return b.String()
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
	return b.String() + name + "=" + value + "\n"
}
