package statefolder

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ccbot/internal/hookwire"
	"ccbot/internal/suspect"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ownFiles are the other files that ccbot makes. ccbot.env is not among them, because a person
// writes it.
var ownFiles = []string{lockFile, formatFile, instanceFile, aliveFile, lowFile, probe, hookwire.SocketName, hookwire.SocketName + "~",
	claudeFile, "commands.json", "holds.json", "parked.json", "rich.json", "reactions.json", "windows.json", suspect.Name}

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

// TestNamedEntriesAreKnown: every file that has a name in the code that makes it is in the list.
func TestNamedEntriesAreKnown(t *testing.T) {
	name := regexp.MustCompile(`(?m)^(?:const |\t)\w*File\s+= "([^"]+)"`)
	found := 0
	for _, folder := range []string{".", "..", "../../../bot/outbox", "../../../recovery"} {
		sources, err := filepath.Glob(filepath.Join(folder, "*.go"))
		require.NoError(t, err)
		for _, source := range sources {
			text, err := os.ReadFile(source)
			require.NoError(t, err)
			for _, m := range name.FindAllStringSubmatch(string(text), -1) {
				found++
				assert.True(t, slices.Contains(ownFiles, m[1]) || m[1] == SettingsFile, "%s of %s is not known", m[1], source)
			}
		}
	}
	assert.GreaterOrEqual(t, found, 8)
}
