//go:build !linux

package git

// boundMemory does nothing: only Linux limits another process.
func boundMemory(int) {}
