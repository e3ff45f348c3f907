package host

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"ccbot/internal/slashcommand"
)

// HasCommand implements [places.Lookups].
func (m *Machine) HasCommand(_ context.Context, dir, name string) bool {
	return slashcommand.Has(filepath.Dir(m.ProjectsDir), dir, name)
}

// IsMissing implements [places.Lookups].
func (m *Machine) IsMissing(_ context.Context, dir string) bool {
	_, err := os.Stat(dir)
	return errors.Is(err, fs.ErrNotExist)
}
