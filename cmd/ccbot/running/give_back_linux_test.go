package running

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestThePagesOfTheProgramAreGivenBack compares how much of the program's file is in memory.
func TestThePagesOfTheProgramAreGivenBack(t *testing.T) {
	ofFiles := func() int {
		data, err := os.ReadFile("/proc/self/status")
		require.NoError(t, err)
		found := regexp.MustCompile(`RssFile:\s+(\d+) kB`).FindSubmatch(data)
		require.NotNil(t, found)
		kb, err := strconv.Atoi(string(found[1]))
		require.NoError(t, err)
		return kb
	}
	before := ofFiles()
	giveBack()
	assert.Less(t, ofFiles(), before, "kilobytes")
}
