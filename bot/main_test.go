package bot_test

import (
	"os"
	"runtime/debug"
	"testing"

	"ccbot/agent/jsonl"
)

// TestMain gives the memory budget of a small machine: a text above it has a megabyte then.
func TestMain(m *testing.M) {
	before := debug.SetMemoryLimit(16 << 20)
	jsonl.Budget() // is measured once
	debug.SetMemoryLimit(before)
	os.Exit(m.Run())
}
