package files

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBytesText(t *testing.T) {
	for n, want := range map[int64]string{1: "1 B", 1023: "1023 B", 1536: "1.5 KB", 50 << 20: "50.0 MB"} {
		assert.Equal(t, want, bytesText(n))
	}
}
