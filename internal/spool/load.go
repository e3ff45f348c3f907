package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"

	"ccbot/internal/logkey"
)

// Unloaded is an item that was not loaded.
type Unloaded struct {
	Name string
	Why  error
}

// Loader handles items that cannot be loaded. If Quarantine is empty, nothing is moved: this is for
// a program that only reads a folder of another program. With Report, a moved item is recorded as
// unreported.
type Loader struct {
	Quarantine string
	Report     bool
	Log        *slog.Logger
}

// Load calls take for each item with a name that ends with suffix, in order. An item that take does
// not understand, or that Read will never be able to read, is moved to quarantine and logged. The
// error is about the folders, or about an item that cannot be read now: such an error may pass, so
// the item is not moved. Writes that a crash has cut short are removed.
func (l Loader) Load(f Folder, suffix string, take func(name string, data []byte) error) (aside []Unloaded, err error) {
	if l.Quarantine != "" {
		err = f.Tidy()
	}
	if err != nil {
		return nil, err
	}
	names, err := f.List()
	for _, name := range names {
		if err != nil || !strings.HasSuffix(name, suffix) {
			continue
		}
		var why error
		if why, err = l.LoadOne(f, name, func(data []byte) error { return take(name, data) }); why != nil {
			aside = append(aside, Unloaded{name, why})
		}
	}
	return aside, err
}

// LoadOne is Load for one item; for an absent item take is not called, and there is no error. why
// is the reason for which the item was not loaded.
func (l Loader) LoadOne(f Folder, name string, take func(data []byte) error) (why, err error) {
	data, why := f.Read(name)
	switch {
	case errors.Is(why, fs.ErrNotExist):
		return nil, nil
	case why == nil:
		why = take(data)
	case l.Quarantine != "" && MayPass(why):
		return nil, why
	}
	file := filepath.Join(filepath.Base(f.Path), name)
	switch {
	case why == nil:
		return nil, nil
	case l.Quarantine == "":
		l.Log.Warn("file_unreadable", logkey.File, file, logkey.Error, why)
		return why, nil
	}
	l.Log.Error("file_unreadable", logkey.File, file, logkey.MovedTo, l.Quarantine, logkey.Error, why)
	if err := f.quarantine(name, l.Quarantine, why.Error(), l.Report); err != nil {
		return why, fmt.Errorf("spool: quarantine %s: %w", name, err)
	}
	return why, nil
}

// MayPass reports whether an error of Read is about the present state of the machine, so that a
// later Read may succeed. Then the item must not be put aside or replaced.
func MayPass(err error) bool {
	return err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrForeign) && !errors.Is(err, ErrTooBig)
}
