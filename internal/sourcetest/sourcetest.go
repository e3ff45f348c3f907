// Package sourcetest gives a test the Go files of this module, for rules about them.
package sourcetest

import (
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Skipped reports whether a folder is not part of the module: hidden folders, test data, the tools, which are a separate module,
// and what make builds. go test takes a test that has read a changed folder for a changed test, and these change in each run.
func Skipped(name string) bool {
	base := path.Base(name)
	return name != "." && strings.HasPrefix(base, ".") || base == "testdata" || base == "node_modules" || name == "bin" || name == "tools"
}

// Root returns the folder of the module.
func Root() string {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			panic("no go.mod above the working folder")
		}
	}
	panic(err)
}

// All are the Go files of the module, tests included, by their paths below its folder.
func All(t testing.TB) iter.Seq2[string, []byte] {
	t.Helper()
	return func(yield func(string, []byte) bool) {
		from := os.DirFS(Root())
		err := fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && Skipped(name):
				return fs.SkipDir
			case d.IsDir() || path.Ext(name) != ".go":
				return nil
			}
			data, err := fs.ReadFile(from, name)
			if err == nil && !yield(name, data) {
				return fs.SkipAll
			}
			return err
		})
		require.NoError(t, err)
	}
}

// OfProgram are those of All that no test is: its files and those of packages for tests are left out.
func OfProgram(t testing.TB) iter.Seq2[string, []byte] {
	t.Helper()
	return func(yield func(string, []byte) bool) {
		for name, data := range All(t) {
			if !strings.HasSuffix(name, "_test.go") && !strings.HasSuffix(path.Dir(name), "test") && !yield(name, data) {
				return
			}
		}
	}
}
