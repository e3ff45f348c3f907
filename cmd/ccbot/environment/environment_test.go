package environment

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRefusedVariablesAreDocumented compares the names that a variable with CustomPrefix may not
// have with those in docs/configuration.md.
func TestRefusedVariablesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/configuration.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "ccbot sets no `X` for them. `X` cannot be\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "`.\n")
	var documented []string
	for _, m := range regexp.MustCompile("`([A-Z_]+)(?:{([A-Z_,]+)}|)").FindAllStringSubmatch(section, -1) {
		for rest := range strings.SplitSeq(m[2], ",") {
			documented = append(documented, m[1]+rest)
		}
	}
	assert.ElementsMatch(t, slices.Concat(agentUnset, fixed), documented)
	for _, name := range documented {
		_, err := OfAgents(map[string]string{CustomPrefix + name: "x"})
		assert.Error(t, err, name)
	}
}
