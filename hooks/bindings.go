package hooks

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"ccbot/internal/hookwire"
	"ccbot/internal/spool"
)

// Bindings reads dir/bindings, where dir is $CCBOT_DIR: which session each Claude Code process was running when its
// hook last told. Bindings of earlier boots and ended processes are among them; all are hints until the process is
// proven from the kernel. Files that cannot be read are left as they are, one error each. A missing folder is empty.
func Bindings(dir string) ([]hookwire.Binding, []error) {
	folder := spool.Folder{Path: filepath.Join(dir, hookwire.BindingsFolder), MaxSize: hookwire.MaxBinding}
	names, err := folder.List()
	if err != nil {
		return nil, []error{fmt.Errorf("bindings: %w", err)}
	}
	var bindings []hookwire.Binding
	var errs []error
	for _, name := range names {
		binding, err := readBinding(folder, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("binding %s: %w", name, err))
			continue
		}
		bindings = append(bindings, binding)
	}
	return bindings, errs
}

func readBinding(folder spool.Folder, name string) (hookwire.Binding, error) {
	data, err := folder.Read(name)
	if err != nil {
		return hookwire.Binding{}, err
	}
	binding, err := hookwire.ReadBinding(data)
	if err == nil && binding.Name() != name {
		err = fmt.Errorf("it is about %s: %w", binding.Name(), hookwire.ErrMalformed)
	}
	return binding, err
}
