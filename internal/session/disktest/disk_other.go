//go:build !linux

package disktest

import "testing"

// Run skips the test: a disk of its own takes the namespaces of Linux.
func Run(t *testing.T, _ int, _ func(dir string)) { t.Skip("a disk of its own takes Linux") }

// ReadOnly makes the disk at dir one that cannot be written.
func ReadOnly(t *testing.T, _ string) { t.Fatal("there is no disk") }

// Fill takes all the room that is left on the disk at dir. free gives it back.
func Fill(t *testing.T, _ string) (free func()) { t.Fatal("there is no disk"); return nil }

// Opens skips the test: only Linux tells what is opened.
func Opens(t *testing.T, _ string) func() map[string]int {
	t.Skip("that files are opened takes Linux to see")
	return nil
}
