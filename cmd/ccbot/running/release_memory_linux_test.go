package running

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestProgramPagesAreReturned compares how much of the program's file is in memory.
func TestProgramPagesAreReturned(t *testing.T) {
	ofFiles := func() int {
		data, err := os.ReadFile("/proc/self/status")
		require.NoError(t, err)
		sum := 0
		// The program may be in /dev/shm.
		for _, found := range regexp.MustCompile(`Rss(?:File|Shmem):\s+(\d+) kB`).FindAllSubmatch(data, -1) {
			kb, err := strconv.Atoi(string(found[1]))
			require.NoError(t, err)
			sum += kb
		}
		return sum
	}
	before := ofFiles()
	giveBack()
	assert.Less(t, ofFiles(), before, "kilobytes")
}
