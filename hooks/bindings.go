package hooks

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"

	"ccbot/internal/hookwire"
	"ccbot/internal/lazyregexp"
	"ccbot/internal/spool"
)

// BindingError reports a binding file that exists and could not be read. The process that the
// binding belongs to is taken from the file's name; PID is 0 when the name does not contain it.
type BindingError struct {
	Name  string
	PID   int
	Start uint64
	Boot  string
	Err   error
}

// Error names the file and the reason.
func (e *BindingError) Error() string { return fmt.Sprintf("binding %s: %v", e.Name, e.Err) }

// Unwrap returns the reason.
func (e *BindingError) Unwrap() error { return e.Err }

// bindingName matches the name of a binding's file, <boot>-<pid>-<start>.json; the boot id contains
// dashes.
var bindingName = lazyregexp.New(`^(.*)-(\d+)-([^-]*)\.json$`)

func unreadable(name string, why error) *BindingError {
	e := &BindingError{Name: name, Err: why}
	if m := bindingName.FindStringSubmatch(name); m != nil {
		e.Boot = m[1]
		e.PID, _ = strconv.Atoi(m[2])
		e.Start, _ = strconv.ParseUint(m[3], 10, 64) // 0 matches no process
	}
	return e
}

// Bindings reads dir/bindings, where dir is $CCBOT_DIR: which conversation each agent was in when
// its hook last reported. The result contains bindings of earlier boots and of ended processes; all
// of them are hints until the process is proven from the kernel. A file that cannot be read is left
// as it is and gives one *BindingError. A missing folder counts as empty.
func Bindings(dir string) ([]hookwire.Binding, []error) {
	folder := spool.Folder{Path: filepath.Join(dir, hookwire.BindingsFolder), MaxSize: hookwire.MaxBinding}
	names, err := folder.List()
	if err != nil {
		return nil, []error{fmt.Errorf("bindings: %w", err)}
	}
	var bindings []hookwire.Binding
	var errs []error
	for _, name := range names {
		var binding hookwire.Binding
		data, err := folder.Read(name)
		if err == nil {
			binding, err = hookwire.ReadBinding(data)
		}
		if err == nil && binding.Name() != name {
			err = fmt.Errorf("it is about %s: %w", binding.Name(), hookwire.ErrMalformed)
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			errs = append(errs, unreadable(name, err))
			continue
		}
		bindings = append(bindings, binding)
	}
	return bindings, errs
}

// PruneBindings removes the bindings of processes that are proven gone; each process leaves one.
func PruneBindings(dir string, gone func(hookwire.Binding) bool) error {
	folder := spool.Folder{Path: filepath.Join(dir, hookwire.BindingsFolder), MaxSize: hookwire.MaxBinding}
	bindings, _ := Bindings(dir) // a file that cannot be read is left as it is
	var errs []error
	for _, b := range bindings {
		if gone(b) {
			errs = append(errs, folder.Remove(b.Name()))
		}
	}
	return errors.Join(errs...)
}
