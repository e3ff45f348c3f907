package process

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestParseProcArgs has answers put together by the layout that xnu documents, not recorded ones.
func TestParseProcArgs(t *testing.T) {
	for _, tt := range []struct {
		name, raw, exe string
		args           []string
	}{
		{"a command line", "\x03\x00\x00\x00/bin/sh\x00\x00\x00\x00sh\x00-c\x00a b\x00HOME=/x\x00", "/bin/sh", []string{"sh", "-c", "a b"}},
		{"an empty argument", "\x03\x00\x00\x00/bin/x\x00x\x00\x00y\x00HOME=/x\x00", "/bin/x", []string{"x", "", "y"}},
		{"no arguments", "\x00\x00\x00\x00/bin/x\x00\x00HOME=/x\x00", "/bin/x", nil},
		{"cut short", "\x05\x00\x00\x00/bin/x\x00x\x00-f", "/bin/x", []string{"x", "-f"}},
		{"a path only", "\x01\x00\x00\x00/bin/x", "/bin/x", nil},
		{"a count that is no count", "\xff\xff\xff\xff/bin/x\x00x\x00", "/bin/x", []string{"x"}},
		{"nothing", "", "", nil},
	} {
		exe, args := parseProcArgs([]byte(tt.raw))
		assert.Equal(t, tt.exe, exe, tt.name)
		assert.Equal(t, tt.args, args, tt.name)
	}
}
