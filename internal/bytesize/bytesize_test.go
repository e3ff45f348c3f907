package bytesize

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestText(t *testing.T) {
	for bytes, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.0 kB", 9_949: "9.9 kB", 9_950: "10 kB", 99_499: "99 kB", 999_499: "999 kB", 999_500: "1.0 MB",
		412 << 20: "432 MB", 50 << 20: "52 MB", 999_499_999: "999 MB", 3_000_000_000: "3.0 GB", 2_000_000_000_000: "2.0 TB",
		9_000_000_000_000_000: "9000 TB",
	} {
		assert.Equal(t, want, Text(bytes))
		assert.Equal(t, want, Text(uint64(bytes)))
	}
}
