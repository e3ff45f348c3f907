package hookwire

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestParseKinfo has an answer put together by the layout of xnu's headers, not a recorded one.
func TestParseKinfo(t *testing.T) {
	var raw [kinfoSize]byte
	word := binary.LittleEndian
	word.PutUint64(raw[0:], 1_700_000_000)
	word.PutUint32(raw[8:], 123_999)
	raw[36] = 2 // it runs
	word.PutUint32(raw[40:], 4711)
	copy(raw[243:], "claude\x00rest")
	word.PutUint32(raw[560:], 42)
	want := parent{PID: 4711, PPID: 42, Start: 1_700_000_000_123, Comm: "claude"}
	assert.Equal(t, want, parseKinfo(raw))
	raw[36] = 5
	want.Zombie = true
	assert.Equal(t, want, parseKinfo(raw))
	copy(raw[243:], "a-name-of-17-byte")
	assert.Equal(t, "a-name-of-17-byte", parseKinfo(raw).Comm)
}
