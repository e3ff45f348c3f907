package statefolder

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFilesTableNamesWhatCcbotMakes: docs/configuration.md has a row for each file and folder, and
// for nothing else.
func TestFilesTableNamesWhatCcbotMakes(t *testing.T) {
	data, err := os.ReadFile("../../../docs/configuration.md")
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(data), "\n## Files\n")
	require.True(t, ok)
	var named []string
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(strings.Split(line, "|")[1], -1) {
			named = append(named, name[1])
		}
	}
	want := []string{"ccbot.env", "prices.json", "templates/"} // a person makes them
	for _, folder := range subfolders {
		want = append(want, folder+"/")
	}
	want = append(want, ownFiles...)
	slices.Sort(want)
	slices.Sort(named)
	assert.Equal(t, want, named)
}
