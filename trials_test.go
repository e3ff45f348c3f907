package ccbot_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTrialsOfFaultsNameTests compares the trials of `make faults` with the tests of the tree and
// with the table in tools/faults/testdata/outcomes.md, which `make faults` writes with the
// outcomes.
func TestTrialsOfFaultsNameTests(t *testing.T) {
	data, err := os.ReadFile("tools/faults/trials.txt")
	require.NoError(t, err)
	tests, want := testNames(t), []string(nil)
	for line := range strings.Lines(string(data)) {
		cells := strings.SplitN(strings.TrimSpace(line), " | ", 3)
		if strings.HasPrefix(line, "#") {
			continue
		}
		require.Len(t, cells, 3, line)
		row := "| " + cells[0] + " | " + cells[1] + " | "
		if why, none := strings.CutPrefix(cells[2], "- "); none {
			want = append(want, row+" | not run: "+why+" |")
			continue
		}
		var names []string
		for test := range strings.SplitSeq(cells[2], ", ") {
			assert.True(t, tests[test], "%s: there is no test %s", cells[0], test)
			names = append(names, "`"+test[strings.LastIndexByte(test, '.')+1:]+"`")
		}
		want = append(want, row+strings.Join(names, " ")+" | ")
	}
	data, err = os.ReadFile("tools/faults/testdata/outcomes.md")
	require.NoError(t, err)
	section := string(data)
	assert.NotContains(t, section, "failed")
	_, rows, _ := strings.Cut(section, "|---|---|---|---|\n")
	got := strings.Split(strings.TrimSpace(rows), "\n")
	require.Len(t, got, len(want), "`make faults` writes the table")
	for i, row := range want {
		assert.True(t, strings.HasPrefix(got[i], row), "%s\n%s\n`make faults` writes the table", row, got[i])
	}
}
