//go:build !linux

package disktest

import "testing"

// Run skips the test: its own disk needs the namespaces of Linux.
func Run(t *testing.T, _ int, _ func(dir string)) { t.Skip("a disk of its own takes Linux") }

// ReadOnly would make the disk at dir read-only; here there is no disk.
func ReadOnly(t *testing.T, _ string) { t.Fatal("there is no disk") }

// Protect would make a folder on the disk read-only; here there is no disk.
func Protect(t *testing.T, _ string) (heal func()) { t.Fatal("there is no disk"); return nil }

// Fill would use all the space that is left on the disk at dir; here there is no disk.
func Fill(t *testing.T, _ string) (free func()) { t.Fatal("there is no disk"); return nil }

// Opens skips the test: only Linux reports which files are opened.
func Opens(t *testing.T, _ string) func() map[string]int {
	t.Skip("that files are opened takes Linux to see")
	return nil
}
