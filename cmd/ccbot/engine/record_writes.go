//go:build failpoints

package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/caarlos0/env/v11"

	"ccbot/internal/disk"
)

// RecordWrites makes a program for the test of the table of files. The program appends the verb and
// each file or folder in CCBOT_DIR that it writes, once, to the file that CCBOT_WRITES names.
// Calls that move or remove a file are left out.
func RecordWrites(environ []string, verb string) {
	vars := env.ToMap(environ)
	dir, to := vars["CCBOT_DIR"], vars["CCBOT_WRITES"]
	if dir == "" || to == "" {
		return
	}
	var recorded sync.Map
	disk.Fail(func(op, path string) error {
		rel, err := filepath.Rel(dir, path)
		if err != nil || !filepath.IsLocal(rel) || !slices.Contains([]string{"create", "writefile", "openfile", "chtimes"}, op) {
			return nil
		}
		name, _, _ := strings.Cut(rel, "/")
		if _, known := recorded.LoadOrStore(name, true); known {
			return nil
		}
		file, err := os.OpenFile(to, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return nil // after the test has ended
		}
		defer file.Close()
		_, err = fmt.Fprintln(file, verb, name)
		return err
	})
}
