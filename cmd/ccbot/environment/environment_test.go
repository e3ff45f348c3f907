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

// TestAgentHasColours: NO_COLOR in the tmux server of a person would make a hint in the prompt box
// look like a draft. Who wants it for agents can say so.
func TestAgentHasColours(t *testing.T) {
	for _, configDir := range []string{"", "/home/alice/.claude"} {
		_, unset := Agent(nil, nil, configDir)
		assert.Subset(t, unset, []string{"NO_COLOR", "CI"})
		set, unset := Agent(nil, map[string]string{"NO_COLOR": "1"}, configDir)
		assert.Equal(t, "1", set["NO_COLOR"])
		assert.NotContains(t, unset, "NO_COLOR")
		assert.Contains(t, unset, "CI")
	}
}
