package claudesettings

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSecurityPageHasPinnedVariables compares the table of docs/security.md with the variables that
// a launch pins, and with their values.
func TestSecurityPageHasPinnedVariables(t *testing.T) {
	data, err := os.ReadFile("../../../docs/security.md")
	require.NoError(t, err)
	documented := make(map[string]string)
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(line, " | ")
		if !strings.HasPrefix(line, "| `env.") || len(cells) != 3 {
			continue
		}
		value := regexp.MustCompile("`\"(.*)\"` \\|$").FindStringSubmatch(strings.TrimSpace(cells[2]))
		require.NotNil(t, value, line)
		for _, m := range regexp.MustCompile("`(?:env\\.)?([A-Z_]+)`").FindAllStringSubmatch(cells[0], -1) {
			documented[m[1]] = value[1]
		}
	}
	want := maps.Clone(pinned)
	maps.Copy(want, unset)
	assert.Equal(t, want, documented)
	assert.Subset(t, slices.Collect(maps.Keys(documented)), Inherited())
}
